"""Inputs behind URLs: a store in memory that counts what is asked of it, and an S3 on loopback."""

import gzip
import json
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from moto.server import ThreadedMotoServer
from rollout_rows import message, rollout
from typer.testing import CliRunner

from blade.cli.main import app
from blade.errors import InputError, UsageError
from blade.rollouts import ReadOptions, Run, ranges, read_runs
from blade.rollouts.urls import UrlPath, as_path

ROWS = [rollout(task, repeat, reward=float((task + repeat) % 2), output=[message("42")])
        for task in range(6) for repeat in range(3)]  # fmt: skip
LINES = "".join(json.dumps(row) + "\n" for row in ROWS).encode()


class Counting(MemoryFileSystem):  # type: ignore[misc]
    """A store in memory that notes which files are opened and which bytes are asked for."""

    protocol = ("counting",)
    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    asked: ClassVar[list[tuple[Any, ...]]] = []

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("counting://")))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        self.asked.append((path, start, end))
        return bytes(super().cat_file(path, start=start, end=end, **kwargs))

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        if mode == "rb":
            self.asked.append((path, mode))
        return super()._open(path, mode, **kwargs)


@pytest.fixture
def store() -> Iterator[Counting]:
    fsspec.register_implementation("counting", Counting, clobber=True)
    yield Counting()
    Counting.store.clear()
    Counting.asked.clear()


def rows_of(run: Run) -> list[tuple[str, int, float, int]]:
    table = run.table
    places = zip(table.task.tolist(), table.repeat.tolist(), table.reward.tolist(), table.rows.offset, strict=True)
    return [(table.tasks[task], repeat, reward, int(offset)) for task, repeat, reward, offset in places]


@pytest.fixture
def here(tmp_path: Path) -> Run:
    (tmp_path / "run.jsonl").write_bytes(LINES)
    return read_runs([str(tmp_path / "run.jsonl")], ReadOptions())[0]


@pytest.mark.parametrize("word", ["counting://runs/a/run.jsonl", "counting://runs/a/*.jsonl", "counting://runs"])
@pytest.mark.parametrize("jobs", [1, 2])
def test_a_remote_file_gives_the_rows_of_a_local_one(
    store: Counting, here: Run, monkeypatch: pytest.MonkeyPatch, word: str, jobs: int
) -> None:
    monkeypatch.setattr(ranges, "MIN_RANGE", 1000)
    store.pipe("/runs/a/run.jsonl", LINES)
    run = read_runs([word], ReadOptions(jobs=jobs))[0]
    assert (rows_of(run), run.name) == (rows_of(here), "run")
    assert run.rollout_at(4).items == here.rollout_at(4).items


@pytest.mark.parametrize("name", ["run.jsonl.gz", "run.json"])
def test_a_file_that_is_no_plain_lines_is_fetched_once_for_each_version(store: Counting, here: Run, name: str) -> None:
    data = gzip.compress(LINES) if name.endswith("gz") else json.dumps(ROWS).encode()
    store.pipe(f"/runs/{name}", data)
    for _ in range(2):
        run = read_runs([f"counting://runs/{name}"], ReadOptions(use_cache=False))[0]
        assert [row[:3] for row in rows_of(run)] == [row[:3] for row in rows_of(here)]
    assert Counting.asked == [(f"/runs/{name}", "rb")]
    store.pipe(f"/runs/{name}", gzip.compress(LINES[: LINES.index(b"\n") + 1]))
    assert len(read_runs([f"counting://runs/{name}"], ReadOptions())[0].table) == 1


def test_what_is_known_of_a_remote_file_is_not_asked_for_again_until_it_changes(store: Counting) -> None:
    store.pipe("/run.jsonl", LINES)
    read_runs(["counting://run.jsonl"], ReadOptions())
    assert Counting.asked == [("/run.jsonl", 0, len(LINES))]
    store.pipe("/run.jsonl", LINES[: LINES.index(b"\n") + 1])
    assert len(read_runs(["counting://run.jsonl"], ReadOptions())[0].table) == 1


def test_a_url_is_a_path_that_keeps_its_scheme_wherever_it_goes(tmp_path: Path) -> None:
    path = as_path("s3://bucket/run/a.jsonl")
    assert (str(path), path.name, str(path.parent), str(path.absolute())) == (
        "s3://bucket/run/a.jsonl", "a.jsonl", "s3://bucket/run", "s3://bucket/run/a.jsonl",
    )  # fmt: skip
    assert str(path.with_name("b.jsonl")) == "s3://bucket/run/b.jsonl"
    again = pickle.loads(pickle.dumps(path))
    assert (again, type(again)) == (path, UrlPath)
    assert as_path(f"file://{tmp_path}/x.jsonl") == tmp_path / "x.jsonl"


@pytest.mark.parametrize(
    ("url", "error", "said"),
    [
        ("counting://nothing.jsonl", InputError, "no such file or directory"),
        ("counting://none-*.jsonl", InputError, "no file matches this pattern"),
        ("abc://x.jsonl", UsageError, "no URLs of this kind can be read"),
        ("abfs://c/x.jsonl", UsageError, "pip install 'blade-diagnostics[remote]' adlfs"),
    ],
)
def test_what_cannot_be_reached_is_one_sentence(store: Counting, url: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as caught:
        read_runs([url], ReadOptions())
    assert said in str(caught.value) and "\n" not in str(caught.value)


@pytest.fixture(scope="module")
def bucket() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "nobody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "nothing")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        # Instances are kept for a process: one made for a server that is gone would be taken for this one's.
        fsspec.get_filesystem_class("s3").clear_instance_cache()
        system = fsspec.filesystem("s3")
        system.makedirs("runs", exist_ok=True)  # the store is a process's, and outlives a server
        yield system
        server.stop()


def test_a_run_in_a_bucket_is_diagnosed_and_shown_as_one_on_disk(bucket: Any, tmp_path: Path) -> None:
    local = tmp_path / "night.jsonl"
    local.write_bytes(LINES)
    bucket.pipe("runs/week/night.jsonl", LINES)
    blade = CliRunner()
    for inputs, out in [(str(local), "here"), ("s3://runs/week/*.jsonl", "there")]:
        result = blade.invoke(app, ["diagnose", inputs, "--out", str(tmp_path / out), "--quiet"])
        assert result.exit_code == 0, result.output
    assert (tmp_path / "here/analysis.json").read_bytes() == (tmp_path / "there/analysis.json").read_bytes()
    shown = [blade.invoke(app, ["show", str(tmp_path / out), "2:1"]).output for out in ("here", "there")]
    assert shown[0] == shown[1] and "42" in shown[0]
