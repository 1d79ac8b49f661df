"""Every test has a cache of its own, so that none reads or fills the user's."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory scans are kept in during one test."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("BLADE_CACHE_DIR", str(folder))
    return folder
