"""What we say: the report, the reading list, and the folder they live in."""
