"""How the sandbox is attacked: code that defines `f` is loaded and called once, and what came of it is looked at."""

import textwrap

from blade.environments.unit_tests.sandbox import Guest, Limits, Outcome, Raised, Returned

QUICK = Limits(cpu_seconds=1, wall_seconds=60.0, memory_mb=256)


def attack(code: str, *arguments: object, limits: Limits = QUICK) -> Outcome:
    """What calling `f` gives in a sandbox of its own."""
    with Guest(limits) as guest:
        loaded = guest.load(textwrap.dedent(code), "f")
        return guest.call("f", arguments) if loaded == Returned(True) else loaded


def is_refused(outcome: Outcome) -> bool:
    """Whether the kernel said no."""
    return isinstance(outcome, Raised) and "OSError" in outcome.kinds
