"""Parquet tables: one record per row, what its columns mean is found out like that of any records.

Reading them needs pyarrow, which comes with `blade-diagnostics[parquet]`.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from blade.errors import InputError
from blade.rollouts.formats.building import bad_line, place
from blade.rollouts.formats.reader import Found, Loose, Probe, Reader
from blade.rollouts.values import BadLine

MAGIC = b"PAR1"
BATCH = 256
"""Rows that are decoded at once."""


def recognises(probe: Probe) -> bool:
    """Whether a file is stored as parquet."""
    return probe.magic[:4] == MAGIC


def read(path: Path, wanted: Collection[int] | None = None) -> Iterator[Found]:
    """Every row; its place is its number."""
    for number, row in table_rows(path, wanted):
        yield row if isinstance(row, BadLine) else Loose(record=row, source=place(path, number, line=number + 1))


def table_rows(path: Path, wanted: Collection[int] | None = None) -> Iterator[tuple[int, dict[str, Any] | BadLine]]:
    """Number and content of the rows; of given numbers only those. What cannot be decoded ends it as a bad line.

    Raises:
        InputError: pyarrow is not installed, or the file as a whole cannot be read.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as error:
        raise InputError(
            f"{path}: is a parquet file; reading it needs pyarrow: pip install 'blade-diagnostics[parquet]'."
        ) from error
    number = 0
    try:
        table = parquet.ParquetFile(path)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as parquet: {error}.") from error
    with table:
        for group in range(table.metadata.num_row_groups):
            rows = table.metadata.row_group(group).num_rows
            if wanted is not None and not any(number <= at < number + rows for at in wanted):
                number += rows
                continue
            try:
                for batch in table.iter_batches(batch_size=BATCH, row_groups=[group]):
                    for row in batch.to_pylist():
                        if wanted is None or number in wanted:
                            yield number, {str(name): plain(value) for name, value in row.items()}
                        number += 1
            except (pyarrow.ArrowException, OSError, ValueError) as error:
                yield number, bad_line(path, f"cannot be read any further: {error}", line=number + 1, offset=number)
                return


def plain(value: Any) -> Any:
    """A value that JSON can hold; bytes (images, audio) are left out."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, dict):
        return {str(name): plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, bytes) else str(value)


READER = Reader(name="parquet", title="Parquet tables (*.parquet)", recognises=recognises, read=read)
