"""What changed: two or more runs compared task by task, and why the score moved."""

from blade.comparison.compare import CompareOptions, compare, compare_many
from blade.comparison.comparison import Comparison

__all__ = ["CompareOptions", "Comparison", "compare", "compare_many"]
