"""JSON that must satisfy a schema and say what a text says."""
