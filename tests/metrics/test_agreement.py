"""Agreement beyond chance."""

import numpy as np
import pytest

from blade.metrics.agreement import agree


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def test_kappa_is_what_the_hand_computes() -> None:
    # 50 tasks: both yes 20, both no 15, 5 and 10 apart. Observed 0.7; expected 0.5*0.6 + 0.5*0.4 = 0.5; kappa 0.4.
    first = ["yes"] * 25 + ["no"] * 25
    second = ["yes"] * 20 + ["no"] * 5 + ["yes"] * 10 + ["no"] * 15
    found = agree(first, second, rng())

    assert (found.n, found.agreed) == (50, 35)
    assert found.kappa == pytest.approx(0.4)
    assert found.ci95 is not None and found.ci95[0] < 0.4 < found.ci95[1]


def test_perfect_agreement_is_one() -> None:
    found = agree(["BI", "KG"] * 10, ["BI", "KG"] * 10, rng())

    assert (found.kappa, found.ci95) == (1.0, (1.0, 1.0))


@pytest.mark.parametrize(
    "labels", [pytest.param([], id="nothing_in_common"), pytest.param(["BI"] * 5, id="one_label_only")]
)
def test_kappa_is_unknown_where_chance_explains_everything(labels: list[str]) -> None:
    found = agree(labels, labels, rng())

    assert (found.n, found.agreed, found.kappa, found.ci95) == (len(labels), len(labels), None, None)
