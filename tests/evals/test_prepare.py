import hashlib
from pathlib import Path

import pytest
from own_benchmark import write_sums

from blade.benchmarks import find_benchmark
from blade.errors import InputError
from blade.evals.prepare import prepare


def test_tasks_that_come_out_as_frozen_and_pinned_are_good(tmp_path: Path) -> None:
    made = prepare(write_sums(tmp_path))
    assert (made.tasks, made.problems, made.written, made.first_difference) == (2, [], False, None)
    assert made.sha256 == made.frozen_sha256 == made.pinned_sha256


def test_nothing_in_the_checkout_changes(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path)
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    prepare(benchmark)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_a_frozen_file_that_was_changed_is_told_with_its_first_line(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path)
    benchmark.tasks.write_text(benchmark.tasks.read_text().replace('"40"', '"41"'))
    made = prepare(benchmark)
    assert made.problems == ["the frozen tasks are not those the script makes, from line 2 (task sum-20)"]


def test_a_script_that_was_changed_is_told_apart_from_that(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path)
    benchmark.prepare_script.write_text(benchmark.prepare_script.read_text().replace('"40"', '"41"'))
    first, second = prepare(benchmark).problems
    assert first.endswith("from line 2 (task sum-20)")
    assert second.startswith("the config pins sha256 ") and second.endswith("; the script has changed")


def test_missing_tasks_are_told_and_written_on_request(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path, frozen=False)
    assert prepare(benchmark).problems == [f"there are no frozen tasks at {benchmark.data}; --write puts these there"]
    made = prepare(benchmark, write=True)
    assert (made.written, made.problems) == (True, [])
    assert hashlib.sha256(benchmark.tasks.read_bytes()).hexdigest() == made.sha256
    assert not prepare(benchmark, write=True).written


def test_writing_tasks_of_another_hash_still_asks_for_the_pin(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path)
    benchmark.prepare_script.write_text(benchmark.prepare_script.read_text().replace('"40"', '"41"'))
    made = prepare(benchmark, write=True)
    assert made.written and [problem.endswith("pin that if it is meant") for problem in made.problems] == [True]


@pytest.mark.parametrize(
    ("script", "told"),
    [
        pytest.param("x = 1\nraise ValueError('no luck')", "failed in line 2: ValueError: no luck", id="raises"),
        pytest.param("def prepare(", "failed: SyntaxError", id="syntax"),
        pytest.param("x = 1", "has no prepare(output_dir)", id="no_function"),
        pytest.param("def prepare(): pass", "has no prepare(output_dir)", id="takes_nothing"),
        pytest.param("def prepare(*, name='x'): pass", "has no prepare(output_dir)", id="writes_in_place_as_gym_does"),
        pytest.param(
            "def prepare(d): return 'elsewhere'", "returned elsewhere, which is not a file in", id="elsewhere"
        ),
        pytest.param("def prepare(d): return None", "returned None, which is not a file in", id="nothing"),
        pytest.param("import os\ndef prepare(d): os._exit(7)", "ended with status 7 before", id="dies"),
        pytest.param("def prepare(d): raise SystemExit(3)", "failed in line 1: SystemExit: 3", id="exits"),
        pytest.param("def prepare(d): (d / 'x').write_text(''); return d / 'x'", "file without tasks", id="empty"),
        pytest.param("def prepare(d): (d / 'x').write_text('[1]'); return d / 'x'", "line 1 it makes is no", id="list"),
    ],
)
def test_a_script_that_fails_is_one_sentence(tmp_path: Path, script: str, told: str) -> None:
    with pytest.raises(InputError) as caught:
        prepare(write_sums(tmp_path, script=script))
    assert told in str(caught.value) and "\n" not in str(caught.value)


def test_a_script_that_is_not_there_is_told(tmp_path: Path) -> None:
    benchmark = write_sums(tmp_path)
    benchmark.prepare_script.unlink()
    with pytest.raises(InputError, match=r"no such file; config\.yaml names it as prepare_script"):
        prepare(benchmark)


def test_a_script_may_import_this_package_and_its_neighbours(tmp_path: Path) -> None:
    benchmark = write_sums(
        tmp_path, script="from beside import write\nfrom blade.benchmarks.making import Dice\nprepare = write\n"
    )
    (benchmark.folder / "beside.py").write_text(
        "def write(folder):\n    (folder / 'x').write_text('{}')\n    return folder / 'x'\n"
    )
    assert prepare(find_benchmark("sums", tmp_path)).tasks == 1
