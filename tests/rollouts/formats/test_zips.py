"""Members of archives that unpack to far more than they take."""

import io
import zipfile
from pathlib import Path

import pytest
import zstandard

from blade.rollouts.formats.zips import ZSTANDARD, Damaged, open_archive, unpack, unpacked


def test_a_member_that_unpacks_to_more_than_a_line_may_have_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLADE_MAX_LINE_MB", "9")
    with zipfile.ZipFile(tmp_path / "a.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("small.json", b"{}")
        archive.writestr("large.json", b" " * (10 * 2**20))
    members = open_archive(tmp_path / "a.eval").members
    with (tmp_path / "a.eval").open("rb") as file:
        assert unpack(file, members["small.json"]) == b"{}"
        with pytest.raises(Damaged, match="longer than 9 MiB; BLADE_MAX_LINE_MB allows more"):
            unpack(file, members["large.json"])


def test_frames_that_follow_each_other_are_unpacked_to_the_last() -> None:
    texts = [b"one" * 1000, b"", bytes(range(256)) * 300]
    packed = b"".join(zstandard.ZstdCompressor().compress(text) for text in texts)

    assert unpacked(packed, ZSTANDARD) == b"".join(texts)
    with pytest.raises(Damaged, match="cut off"):
        unpacked(packed[:-5], ZSTANDARD)
    assert io.BytesIO(unpacked(packed + b"rest", ZSTANDARD)).read(3) == b"one"
