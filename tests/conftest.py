"""What every test has: a cache of its own, and golden files to compare texts with byte for byte.

`pytest --update-golden` writes what the code gives now; the difference is then reviewed like code.
"""

from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest

# A first call may load a library, and another job may have the core: neither is a failure.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

DATA = Path(__file__).parent / "data"

Golden = Callable[[str, str], None]
"""Compares a text with the golden file of that name."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the golden files in tests/data")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Golden:
    """Compares a text with a golden file, or rewrites the file."""

    def compare(name: str, text: str) -> None:
        place = DATA / name
        if request.config.getoption("--update-golden"):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(text.encode())
        assert text == place.read_bytes().decode(), f"{name} differs; see pytest --update-golden"

    return compare


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory scans are kept in during one test, so that none reads or fills the user's."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("BLADE_CACHE_DIR", str(folder))
    return folder
