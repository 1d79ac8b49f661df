"""Answers that are one number: read from free text, and compared as exact fractions."""
