"""Functions judged by calling them, in a sandbox that holds none of the expected results."""
