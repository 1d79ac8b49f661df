"""The whole path on a real model: list, prepare, run, kill, resume, profile, aggregate, reverify, diagnose, compare,
analyze, report, check; through the chat, responses and messages protocols, so through both SDKs.

    make e2e
    make e2e MODEL=qwen2.5-coder-1.5b

The model may be a weak analyst. What is tested is that nothing false gets through: whatever it says, every label that
stands has its quotes at their places, and every report passes its audit. `make test` does not collect it.
"""

import itertools
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from blade_process import Blade, Served, keys_of, rows_of

from blade.api import read

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import local_models  # noqa: E402

MODEL = os.environ.get("MODEL") or "smollm2-135m"
BENCHMARK, TASKS, REPEATS = "word_math", 4, 2
APIS = ("chat", "responses", "messages")
EXPRESSION = re.compile(r"\{\{.*?\}\}", re.DOTALL)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    """The model behind its server; without weights there is nothing to test, and the run ends with one sentence."""
    if MODEL not in local_models.MODELS:
        pytest.exit(f"MODEL is {MODEL!r}; there are {', '.join(local_models.MODELS)}.", 2)
    try:
        with local_models.serving(MODEL, parallel=2, context=8192) as url:
            yield Served(MODEL, url)
    except SystemExit:
        pytest.exit(f"make e2e needs {MODEL} on this machine, and it could not be fetched or served; see above.", 1)


@pytest.fixture(scope="module")
def blade(tmp_path_factory: pytest.TempPathFactory) -> Blade:
    """The command, with a cache that is as empty as a newcomer's."""
    cache = tmp_path_factory.mktemp("cache")
    return Blade({**os.environ, "XDG_CACHE_HOME": str(cache), "BLADE_CACHE_DIR": str(cache / "scans")}, ROOT)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all of it is written."""
    return tmp_path_factory.mktemp("work")


@pytest.fixture(scope="module")
def runs(blade: Blade, served: Served, folder: Path) -> dict[str, Path]:
    """Rollouts through every protocol; the first run was killed and resumed."""
    made = {}
    for api in APIS:
        output = folder / f"{api}.jsonl"
        words = ["--model", served.model, "--base-url", served.url, "--api", api, "--output", output]
        more = ["--limit", TASKS, "--repeats", REPEATS, "--concurrency", 2, "--max-output-tokens", 80]
        run = ["eval", "run", "--benchmark", BENCHMARK, *words, *more]
        if api == "chat":
            blade.killed(output, 2, *run)
            assert 2 <= len(rows_of(output)) < TASKS * REPEATS
            run.append("--resume")
        blade.good(*run)
        made[api] = output
    return made


@pytest.fixture(scope="module")
def diagnoses(blade: Blade, runs: dict[str, Path], folder: Path) -> dict[str, Path]:
    """Every run diagnosed."""
    for api, rollouts in runs.items():
        blade.good("diagnose", rollouts, "--benchmark", BENCHMARK, "--out", folder / f"out-{api}", "--quiet")
    return {api: folder / f"out-{api}" for api in runs}


def test_the_benchmark_is_listed_and_its_tasks_are_as_frozen(blade: Blade) -> None:
    names = [one["name"] for one in blade.good("list", "benchmarks", "--json").json]

    assert BENCHMARK in names
    assert "as frozen" in blade.good("eval", "prepare", BENCHMARK).out


@pytest.mark.parametrize("api", APIS)
def test_every_rollout_is_there_once_also_after_a_kill(runs: dict[str, Path], api: str) -> None:
    assert keys_of(runs[api]) == list(itertools.product(range(TASKS), range(REPEATS)))


@pytest.mark.parametrize("api", APIS)
def test_profile_aggregate_and_reverify_agree_with_the_rows(blade: Blade, runs: dict[str, Path], api: str) -> None:
    rollouts = runs[api]
    blade.good("eval", "profile", rollouts, "--benchmark", BENCHMARK)
    blade.good("eval", "aggregate", rollouts, "--benchmark", BENCHMARK, "--fail-on-missing")
    again = blade.good("eval", "reverify", rollouts, "--benchmark", BENCHMARK, "--fail-on-change")

    assert f"{TASKS * REPEATS} rollouts" in again.out


@pytest.mark.parametrize("api", APIS)
def test_a_report_passes_its_audit(blade: Blade, diagnoses: dict[str, Path], api: str) -> None:
    assert_true(blade, diagnoses[api] / "report.md")


def test_two_runs_are_compared(blade: Blade, runs: dict[str, Path], folder: Path) -> None:
    blade.good("compare", runs["chat"], runs["responses"], "--out", folder / "both")

    assert_true(blade, folder / "both" / "comparison.md")


@pytest.mark.parametrize("api", APIS)
def test_a_weak_analyst_gets_nothing_false_through(
    blade: Blade, served: Served, diagnoses: dict[str, Path], api: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = diagnoses[api]
    found = blade.good(*analyze_words(served, out, api), "--json").json

    assert_labels_hold(out)
    assert_no_number_is_typed(out / "narrative.md")
    assert_true(blade, out / "report.md")
    with capsys.disabled():
        print(f"\n{served.model} by {api}: {summary(found)}")


def test_asking_again_is_free(blade: Blade, served: Served, diagnoses: dict[str, Path]) -> None:
    words = [*analyze_words(served, diagnoses["chat"], "chat"), "--again"]
    blade.good(*words)

    assert "spent: 0 requests" in blade.good(*words).err


def analyze_words(served: Served, out: Path, api: str) -> list[object]:
    """A reading that is over in a minute: few tasks, little of each, short answers."""
    where = ["--model", served.model, "--base-url", served.url, "--api", api, "--timeout", 300]
    return ["analyze", out, *where, "--tasks", 1, "--chars", 3000, "--concurrency", 2, "--max-output-tokens", 200]


def assert_true(blade: Blade, report: Path) -> None:
    """Nothing in a report is contradicted by the rows, and nothing is left that nobody can judge."""
    audit = blade.good("check", report, "--json").json

    assert audit["supported"] == audit["claims"] > 50, audit["unverifiable"]


def assert_labels_hold(out: Path) -> None:
    """Every quote of a label stands where it says, in the rows as they are on disk."""
    request = json.loads((out / ".blade" / "request.json").read_text())
    run = read(request["inputs"][0])
    for line in (out / "labels.jsonl").read_text().splitlines():
        label = json.loads(line)
        for proof in label["evidence"] if label["author"].startswith("llm:") else []:
            rollout, _, item = proof["citation"].partition("#")
            texts = [one.text for one in run.rollout(rollout).items]
            assert proof["quote"] in (texts[int(item)] if item else "\n".join(texts))


def assert_no_number_is_typed(narrative: Path) -> None:
    """The prose has no digit of its own but what belongs to the words `95 %` and `pass@1`."""
    body = narrative.read_text(encoding="utf-8").split("\n---\n", 1)[1]
    words = EXPRESSION.sub("", body).replace("95 % interval", "").replace("pass@1", "")

    assert not any(character.isdigit() for character in words), words


def summary(found: Any) -> str:
    """What a model managed, for whoever reads along."""
    labels = [opinion["label"]["cause"] for opinion in found["opinions"] if opinion["label"]]
    told = found["narrative"]
    lacking = ", ".join(told["not_written"])
    return f"labels {labels} of {len(found['opinions'])} tasks; wrote {told['written']}; not {lacking or 'anything'}"
