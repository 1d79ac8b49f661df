import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rollout_rows import Row, rollout, unindexed, without, write_rows

from blade.errors import ProblemsFound, UsageError
from blade.evals.aggregate import AggregateOptions, write_aggregate
from blade.evals.shards import merge_shards

AGENT: Row = {"agent_ref": {"name": "desk"}}


def shard(path: Path, *keys: tuple[int, int], inputs: bool = True, reward: float = 1.0) -> Path:
    rows = [rollout(task, repeat, reward, **AGENT) for task, repeat in keys]
    if inputs:
        asked = [without(row, "reward", "response") for row in rows]
        write_rows(path.with_name(f"{path.stem}_materialized_inputs.jsonl"), asked)
    return write_rows(path, rows)


def keys(path: Path) -> list[tuple[Any, Any]]:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    return [(row["_ng_task_index"], row["_ng_rollout_index"]) for row in rows]


def test_parts_are_joined_in_the_order_of_keys_with_their_inputs(tmp_path: Path) -> None:
    parts = [shard(tmp_path / "b.jsonl", (10, 0), (2, 1), (2, 0)), shard(tmp_path / "a.jsonl", (0, 0))]
    merged = merge_shards(parts, tmp_path / "all.jsonl")
    assert (merged.rollouts, merged.shards, merged.notes) == (4, 2, [])
    assert keys(merged.output) == [(0, 0), (2, 0), (2, 1), (10, 0)]
    assert keys(tmp_path / "all_materialized_inputs.jsonl") == keys(merged.output)


def test_rows_are_copied_byte_for_byte(tmp_path: Path) -> None:
    line = '{"_ng_rollout_index":0, "_ng_task_index":3,"reward":1.0,"x":"\\u00e4 ä"}'
    part = write_rows(tmp_path / "a.jsonl", [line])
    merge_shards([part, shard(tmp_path / "b.jsonl", (0, 0))], tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()[1] == line


def test_seeds_of_the_same_tasks_collide_and_the_way_out_is_told(tmp_path: Path) -> None:
    parts = [shard(tmp_path / f"seed{n}.jsonl", (0, 0), reward=float(n)) for n in range(2)]
    with pytest.raises(ProblemsFound, match=r"0:0 .* in seed0.jsonl:1 and seed1.jsonl:1; .* --seed-shards counts"):
        merge_shards(parts, tmp_path / "all.jsonl")
    assert not (tmp_path / "all.jsonl").exists()


def test_seed_shards_count_their_repeats_on_in_rollouts_inputs_and_failures(tmp_path: Path) -> None:
    parts = [shard(tmp_path / f"seed{n}.jsonl", (0, 0), (0, 1), (1, 0)) for n in range(3)]
    write_rows(tmp_path / "seed2_failures.jsonl", [rollout(1, 0, None, _ng_failure_class="transient")])
    merged = merge_shards(parts, tmp_path / "all.jsonl", seed_shards=True)
    expected = [*((0, repeat) for repeat in range(6)), (1, 0), (1, 1), (1, 2)]
    assert keys(merged.output) == keys(tmp_path / "all_materialized_inputs.jsonl") == expected
    assert keys(tmp_path / "all_failures.jsonl") == [(1, 2)]


def test_a_seed_that_lacks_rollouts_keeps_its_place(tmp_path: Path) -> None:
    first = shard(tmp_path / "seed0.jsonl", (0, 0), (0, 1))
    write_rows(first, [rollout(0, 0, 1.0, **AGENT)])
    merged = merge_shards([first, shard(tmp_path / "seed1.jsonl", (0, 0))], tmp_path / "all.jsonl", seed_shards=True)
    assert keys(merged.output) == [(0, 0), (0, 2)]
    [agent] = write_aggregate(merged.output).agents
    assert (agent.coverage.expected_rollouts, agent.coverage.missing) == (3, 1)


@pytest.mark.parametrize(("policy", "reward"), [("first", 0.0), ("last", 1.0)])
def test_the_chosen_of_two_rows_is_kept(tmp_path: Path, policy: Any, reward: float) -> None:
    parts = [shard(tmp_path / f"s{n}.jsonl", (0, 0), reward=float(n)) for n in range(2)]
    merged = merge_shards(parts, tmp_path / "all.jsonl", duplicates=policy)
    assert json.loads(merged.output.read_text())["reward"] == reward
    assert merged.notes == ["1 rows have the key of another row and were left out"]


def test_rows_written_twice_are_one(tmp_path: Path) -> None:
    parts = [shard(tmp_path / f"s{n}.jsonl", (0, 0), (1, 0)) for n in range(2)]
    assert merge_shards(parts, tmp_path / "all.jsonl").rollouts == 2


def test_unless_every_shard_says_what_was_asked_nothing_is_claimed(tmp_path: Path) -> None:
    parts = [shard(tmp_path / "a.jsonl", (0, 0)), shard(tmp_path / "b.jsonl", (1, 0), inputs=False)]
    (tmp_path / "all_materialized_inputs.jsonl").write_text("from an earlier merge")
    merged = merge_shards(parts, tmp_path / "all.jsonl")
    assert merged.notes == ["b.jsonl has no materialized inputs, so nobody says what was expected in all"]
    assert not (tmp_path / "all_materialized_inputs.jsonl").exists()


def test_the_expected_number_may_be_said_instead(tmp_path: Path) -> None:
    parts = [shard(tmp_path / f"{n}.jsonl", (n, 0), inputs=False) for n in range(2)]
    merged = merge_shards(parts, tmp_path / "all.jsonl")
    [agent] = write_aggregate(merged.output, AggregateOptions(expected_repeats=3)).agents
    assert (agent.coverage.expected_rollouts, agent.coverage.missing) == (6, 4)


def test_lines_that_are_no_rollouts_are_left_out_and_told(tmp_path: Path) -> None:
    part = write_rows(tmp_path / "a.jsonl", [rollout(0, 0), '{"torn', "[1]"])
    merged = merge_shards([part], tmp_path / "all.jsonl")
    assert keys(merged.output) == [(0, 0)]
    assert merged.notes[0].startswith("2 lines are not rollouts and were left out; the first is a.jsonl:2: ")
    with pytest.raises(ProblemsFound, match="1 files hold no rollouts"):
        merge_shards([write_rows(tmp_path / "b.jsonl", ["{"])], tmp_path / "none.jsonl")


def test_compressed_shards_are_merged(tmp_path: Path) -> None:
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(json.dumps(rollout(1, 0)).encode() + b"\n"))
    merged = merge_shards([packed, shard(tmp_path / "b.jsonl", (0, 0))], tmp_path / "all.jsonl")
    assert keys(merged.output) == [(0, 0), (1, 0)]


def test_rows_without_indices_are_never_one(tmp_path: Path) -> None:
    parts = [write_rows(tmp_path / f"{n}.jsonl", [unindexed("same?", float(n))]) for n in range(2)]
    assert merge_shards(parts, tmp_path / "all.jsonl").rollouts == 2


def test_an_output_that_exists_or_is_a_shard_is_refused(tmp_path: Path) -> None:
    part = shard(tmp_path / "a.jsonl", (0, 0))
    with pytest.raises(UsageError, match="is one of the shards"):
        merge_shards([part], part)
    (tmp_path / "all.jsonl").write_text("precious")
    with pytest.raises(UsageError, match="exists; name another --output, or replace it with --overwrite"):
        merge_shards([part], tmp_path / "all.jsonl")
    assert merge_shards([part], tmp_path / "all.jsonl", overwrite=True).rollouts == 1


@given(st.lists(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=6), min_size=1, max_size=4))
def test_seed_shards_never_lose_or_join_a_rollout(
    tmp_path_factory: pytest.TempPathFactory, parts: list[set[Any]]
) -> None:
    folder = tmp_path_factory.mktemp("shards")
    paths = [shard(folder / f"{n}.jsonl", *sorted(part), inputs=n % 2 == 0) for n, part in enumerate(parts)]
    if any(parts):
        merged = merge_shards(paths, folder / "all.jsonl", seed_shards=True)
        assert len(set(keys(merged.output))) == merged.rollouts == sum(map(len, parts))
