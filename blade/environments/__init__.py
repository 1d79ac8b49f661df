"""How answers are judged: verifiers, and the tools of tasks that need some, which benchmarks are overlaid on.

An environment is a folder here with a `config.yaml` and a `verifier.py` that holds its `ENVIRONMENT`. It knows
nothing of the benchmarks that use it.
"""

from blade.environments.environment import Environment, Session, Verdict, environment_names, load_environment

__all__ = ["Environment", "Session", "Verdict", "environment_names", "load_environment"]
