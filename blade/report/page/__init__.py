"""The page: `report.html` and `comparison.html`, self-contained, and what `blade view` serves."""
