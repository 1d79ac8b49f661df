"""The demo's draws: those that prepare scripts make, under a seed of their own."""

from blade.benchmarks import making

SEED = "desk-1"


class Dice(making.Dice):
    """The choices of one rollout."""

    def __init__(self, *key: object) -> None:
        super().__init__(SEED, *key)
