"""A report held against itself, without any rows: everything it says twice, adds up, divides or sweeps over.

Standard library only.
"""

from collections.abc import Iterator

from blade.audit.factors import check_factors
from blade.audit.outcome import Check
from blade.audit.passes import check_passes
from blade.audit.restated import check_restated
from blade.audit.sentence_sums import check_sentence
from blade.audit.sweeping import check_sweeping
from blade.audit.table_shares import check_followers
from blade.audit.table_sums import check_sums
from blade.audit.told import Told
from blade.audit.wholes import check_wholes
from blade.audit.written_sums import check_written


def check_arithmetic(told: Told) -> list[Check]:
    """Every claim that the report itself settles, by line; one that is wrong in two ways is told once."""
    worst: dict[tuple[int, int, int, str], Check] = {}
    for check in all_checks(told):
        claim = check.claim
        key = claim.at, claim.start, claim.end, claim.kind
        if key not in worst or (worst[key].holds and not check.holds):
            worst[key] = check
    return sorted(worst.values(), key=lambda check: check.claim.line)


def all_checks(told: Told) -> Iterator[Check]:
    for speech in told.speeches:
        yield from check_sentence(speech)
        yield from check_factors(speech)
        yield from check_written(speech)
    for grid in told.grids:
        yield from check_sums(grid)
        yield from check_followers(grid)
        yield from check_passes(grid)
    yield from check_restated(told)
    yield from check_wholes(told)
    yield from check_sweeping(told, told.grids)
