"""Queries over SQLite databases, judged by what they return."""
