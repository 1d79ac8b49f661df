"""Answers in words, judged by a model."""
