"""A real Ray cluster of several nodes on this machine: same bytes, nodes that go away, clear words for what is wrong.

Nodes are processes with stores of their own. Ranges are made small here, so that small files have many.
"""

import itertools
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from blade_command import blade
from eval_runs import keys_of, make_checkout, words_for
from loopback import Call, Loopback, Say
from moto.server import ThreadedMotoServer
from ray.cluster_utils import Cluster as Nodes
from rollout_rows import message, rollout, write_rows

from blade.engine.cluster import joined
from blade.errors import InputError
from blade.rollouts import ranges

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own
STORE = 80 << 20
"""Bytes of a node's object store, the fewest that Ray allows."""


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """Three nodes of one CPU, that know of an S3 on loopback."""
    with pytest.MonkeyPatch.context() as patch:
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "nobody",
            "AWS_SECRET_ACCESS_KEY": "nothing", "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        found = Nodes(initialize_head=True, head_node_args={"num_cpus": 1, "object_store_memory": STORE})
        for _ in range(2):
            found.add_node(num_cpus=1, object_store_memory=STORE)
        yield found
        found.shutdown()
        server.stop()


def night(folder: Path, tasks: int = 60, *, shift: int = 0) -> Path:
    """Rollouts with bad lines, odd fields and answers, so that much depends on how ranges are joined."""
    rows: list[Any] = []
    for task, repeat in itertools.product(range(tasks), range(3)):
        right = (task + repeat + shift) % 3 == 0
        row = rollout(task, repeat, reward=float(right), output=[message(f"Answer: {task + (not right)}")])
        rows.append({**row, "odd": [True, 1.5, "x", None][(task * 7 + repeat) % 4], "kind": f"k{task % 4}"})
    rows.insert(100, '{"_ng_task_index": 2, "rew')
    return write_rows(folder / "night.jsonl", rows)


def files_in(folder: Path) -> dict[str, bytes]:
    """Everything a command wrote but what is about this machine."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*") if path.is_file() and ".blade" not in path.parts and path.suffix != ".lock"
    }  # fmt: skip


@pytest.fixture
def cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small files are divided."""
    monkeypatch.setattr(ranges, "MIN_RANGE", 4000)


@pytest.mark.usefixtures("cut")
def test_every_command_writes_the_bytes_that_one_process_writes(nodes: Nodes, tmp_path: Path) -> None:
    base, candidate = (night(tmp_path / name, shift=shift) for shift, name in enumerate(("base", "candidate")))
    bucket = fsspec.filesystem("s3")
    bucket.mkdir("far")  # a name of its own: the store outlives a server
    bucket.pipe("far/night.jsonl", base.read_bytes())
    cluster = ["--engine", "ray", "--ray-address", nodes.address]
    for out, more in (("one", ["--jobs", "1"]), ("many", cluster)):
        found = blade("diagnose", base, "--out", tmp_path / out / "run", "--no-cache", "-q", *more)
        assert found.exit_code == 0, found.stderr
        found = blade("compare", base, candidate, "--out", tmp_path / out / "both", "--no-cache", "-q", *more)
        assert found.exit_code == 0, found.stderr
    found = blade("diagnose", "s3://far/night.jsonl", "--out", tmp_path / "far", "--no-cache", "-q", *cluster)
    assert found.exit_code == 0, found.stderr

    assert files_in(tmp_path / "one") == files_in(tmp_path / "many")
    near, far = files_in(tmp_path / "one/run"), files_in(tmp_path / "far")
    assert near["analysis.json"] == far["analysis.json"]


@pytest.mark.usefixtures("cut")
def test_profiles_and_aggregates_are_the_same_and_repeats_are_counted_across_ranges(
    nodes: Nodes, tmp_path: Path
) -> None:
    same = {"agent_ref": {"name": "mcqa_agent"}, "pad": "x" * 90}
    rows = [
        {**same, "responses_create_params": {"input": f"q{n % 9}"}, "reward": n % 2, "extracted_answer": "ABC"[n % 3]}
        for n in range(300)
    ]
    written = []
    for name, more in (("one", []), ("many", ["--engine", "ray", "--ray-address", nodes.address])):
        place = write_rows(tmp_path / name / "rollouts.jsonl", [*rows, "broken"])
        for command in ("profile", "aggregate"):
            found = blade("eval", command, place, *more)
            assert found.exit_code == 0, found.stderr
        written.append(files_in(tmp_path / name))
    assert len(written[0]) == 4 and written[0] == written[1]


def test_a_node_that_goes_away_costs_time_and_nothing_else(nodes: Nodes) -> None:
    def slow(number: int) -> int:  # within a test, so that it travels by value
        time.sleep(0.2)
        return number

    def total(numbers: list[int]) -> int:
        return sum(numbers)

    extra = nodes.add_node(num_cpus=3, object_store_memory=STORE)
    told: list[int] = []

    def done(count: int) -> None:
        told.append(count)
        if len(told) == 1:
            nodes.remove_node(extra, allow_graceful=False)

    with joined(nodes.address) as cluster:
        assert cluster.reduce(slow, range(18), total, done=done) == sum(range(18))
    assert told[-1] == 18


def test_results_beyond_the_store_are_spilled_and_an_error_is_the_task_s_own(nodes: Nodes) -> None:
    def wide(number: int) -> Any:
        if number < 0:
            raise InputError(f"{number}: no such thing.")
        return np.full(2_500_000, number)  # 20 MB

    with joined(nodes.address) as cluster:  # 12 of them, in stores of 80
        assert [int(found[0]) for found in cluster.map(wide, range(12))] == list(range(12))
        with pytest.raises(InputError, match=r"^-1: no such thing\.$"):  # as it was raised, and not Ray's
            list(cluster.map(wide, [-1]))


def test_a_node_without_blade_is_named(nodes: Nodes, tmp_path: Path) -> None:
    # Workers look where the driver does, too; so that module is kept from them before anything else is asked.
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['blade'] = None\n", encoding="utf-8")
    bare = nodes.add_node(num_cpus=1, object_store_memory=STORE, env_vars={"PYTHONPATH": str(tmp_path)})
    try:
        found = blade("diagnose", night(tmp_path / "in", 3), "--out", tmp_path / "out", "--engine", "ray",
                      "--ray-address", nodes.address)  # fmt: skip
    finally:
        nodes.remove_node(bare)
    assert found.exit_code == 3
    assert "cannot import BLADE (" in found.stderr and "): install blade-diagnostics" in found.stderr


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--engine", "ray", "--ray-address", "127.0.0.1:1"], 3, "no Ray cluster answers at 127.0.0.1:1"),
        (["--engine", "ray", "--ray-address", "here"], 2, "expected HOST:PORT"),
        (["--ray-address", "127.0.0.1:1"], 2, "only used with --engine ray"),
    ],
    ids=["nobody", "no_address", "no_engine"],
)
def test_an_address_that_leads_nowhere_is_one_sentence(tmp_path: Path, words: list[str], code: int, said: str) -> None:
    found = blade("diagnose", night(tmp_path, 2), "--out", tmp_path / "out", *words)
    assert (found.exit_code, said in found.stderr, len(found.stderr.splitlines())) == (code, True, 1)


def test_without_ray_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    found = blade("diagnose", night(tmp_path, 2), "--out", tmp_path / "out", "--engine", "ray")
    assert (found.exit_code, found.stderr) == (
        2,
        "blade: --engine ray needs Ray: pip install 'blade-diagnostics[ray]'.\n",
    )


def test_a_run_writes_each_rollout_once_though_a_node_is_killed(nodes: Nodes, tmp_path: Path) -> None:
    extra = [nodes.add_node(num_cpus=1, object_store_memory=STORE)]

    def answer(call: Call) -> Say:
        if call.number >= 20 and extra:
            nodes.remove_node(extra.pop(), allow_graceful=False)
        number = int(call.body["messages"][-1]["content"].removeprefix("What is ").partition(" ")[0])
        return Say(f"Answer: {number + 1}", after=0.05)

    output = tmp_path / "out.jsonl"
    with Loopback(answer) as server:
        words = words_for(make_checkout(tmp_path, tasks=30), server.base_url, output, "--concurrency", "8")
        found = blade(*words, "--engine", "ray", "--ray-address", nodes.address)
        asked = len(server.calls)

    assert found.exit_code == 0, found.stderr
    assert not extra and asked >= 60
    assert keys_of(output) == list(itertools.product(range(30), range(2)))
