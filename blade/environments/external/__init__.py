"""Well-known sets that the user has on disk, as tasks of our environments: nothing is fetched, nothing is guessed.

A row that cannot be judged as its authors meant it is left out and told with its line and the reason.
"""

from blade.environments.external.package import write_package
from blade.environments.external.sets import Checked, External, LeftOut, check_external, external_kinds, load_external

__all__ = ["Checked", "External", "LeftOut", "check_external", "external_kinds", "load_external", "write_package"]
