import ctypes
import platform
import runpy
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from blade.rollouts.native.source import source_version

ROOT = Path(__file__).resolve().parents[2]
NATIVE = Path("blade", "rollouts", "native")
build: Callable[[Path], bool] = runpy.run_path(str(ROOT / "scripts" / "build_native.py"))["build"]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing in it but the source of the library."""
    shutil.copytree(ROOT / NATIVE, tmp_path / NATIVE, ignore=shutil.ignore_patterns("libblade*", "__pycache__"))
    return tmp_path


needs_compiler = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64" or shutil.which("cc") is None,
    reason="the library is for Linux on x86-64 and needs a C compiler",
)


@needs_compiler
def test_a_library_says_which_source_it_was_built_from(checkout: Path) -> None:
    assert build(checkout)
    found = ctypes.CDLL(str(checkout / NATIVE / "libblade.so"))
    assert found.blade_version() in (source_version(checkout / NATIVE), -1)
    (checkout / NATIVE / "rows.c").write_text("/* another */")
    assert found.blade_version() != source_version(checkout / NATIVE)


@needs_compiler
@pytest.mark.parametrize("compiler", ["cc -no-such-flag", "no-such-compiler"])
def test_a_compiler_that_fails_is_no_error_and_leaves_nothing(
    compiler: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CC", compiler)
    assert not build(checkout)
    assert "the slower one is used" in capsys.readouterr().err
    assert not list((checkout / NATIVE).glob("libblade*"))


def test_no_compiler_is_no_error(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setenv("PATH", "")
    assert not build(checkout)
