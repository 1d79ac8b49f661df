import json
from pathlib import Path

import pytest
from rollout_rows import Row, read_rows, rollout

import blade
from blade.errors import InputError
from blade.metrics.prices import Price, Prices, load_prices

TABLE = Prices(as_of="2026-01-01", source="us", models={"a-1": Price(1.0, 10.0, 0.1), "a-1-mini": Price(0.5, 5.0)})


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("a-1", 1.0),
        ("openai/A-1", 1.0),
        ("a-1-2026-01-31", 1.0),
        ("a-1@20260131", 1.0),
        ("a-1-latest", 1.0),
        ("a-1-mini-2026-01-31", 0.5),
        ("a-1-maxi", None),
        ("a-12", None),
    ],
)
def test_a_model_is_found_without_its_provider_and_date_and_never_by_half_its_name(
    model: str, expected: float | None
) -> None:
    found = TABLE.find(model)
    assert (None if found is None else found.input) == expected


def used(task: int, reward: float, tokens: int | None, cost: float | None = None) -> Row:
    usage = {"input_tokens": tokens, "output_tokens": tokens and 100_000, "cost": cost}
    return rollout(task, 0, reward, response={"model": "a-1", "usage": usage})


def test_recorded_costs_come_before_prices_and_unknown_is_not_free(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    models = {"a-1": {"input": 1.0, "output": 10.0}}
    prices.write_text(json.dumps({"as_of": "2026-01-01", "source": "us", "models": models}), encoding="utf-8")
    run = read_rows(tmp_path, [used(0, 1.0, 1_000_000), used(1, 0.0, 1_000_000, 0.5), used(2, 1.0, None)])
    cost = blade.analyze(run, prices=str(prices)).cost
    # 1 M tokens in at 1 $ and 0.1 M out at 10 $ are 2 $; the second states 0.5 $; the third says nothing.
    assert cost is not None
    assert (cost.total, cost.rollouts, cost.unknown, cost.recorded) == (2.5, 2, 1, 1)
    assert (cost.per_rollout, cost.per_success) == (1.25, 2.5)
    assert cost.prices == "list prices of 2026-01-01 (us)"


def test_a_run_of_an_unknown_model_has_no_cost(tmp_path: Path) -> None:
    assert blade.analyze(read_rows(tmp_path, [used(0, 1.0, 10)])).cost is None


def test_the_table_that_comes_with_blade_is_dated_and_known_models_have_prices() -> None:
    shipped = load_prices()
    assert shipped.as_of >= "2026" and "litellm" in shipped.source
    assert shipped.find("gpt-4o-2024-08-06") == Price(2.5, 10.0, 1.25)


def test_a_price_table_that_is_none_is_one_sentence(tmp_path: Path) -> None:
    wrong = tmp_path / "prices.json"
    wrong.write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match="is not a price table"):
        load_prices(wrong)
