"""Mathematical answers that are equal when they mean the same."""
