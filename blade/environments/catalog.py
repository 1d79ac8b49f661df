"""Which environments there are, found by looking into this folder."""

import difflib
import importlib
from pathlib import Path

from blade.environments.environment import Environment
from blade.errors import UsageError

FOLDER = Path(__file__).parent


def environment_names() -> list[str]:
    """Names of all environments, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/config.yaml"))


def load_environment(name: str) -> Environment:
    """The environment of that name; a name that is none raises `UsageError`."""
    names = environment_names()
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(names)}."
        raise UsageError(f"no environment is named '{name}'; {hint}")
    environment: Environment = importlib.import_module(f"blade.environments.{name}.verifier").ENVIRONMENT
    return environment
