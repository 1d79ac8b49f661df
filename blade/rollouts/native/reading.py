"""Whether rows are read by the compiled half, and how much room they have there."""

import ctypes

from blade.rollouts.decoding import Plan
from blade.rollouts.layout import Layout
from blade.rollouts.lines import Chunk
from blade.rollouts.native.library import library
from blade.rollouts.native.program import Program, program_for
from blade.rollouts.native.rows import NativeRows, is_readable

MAX_SCALE = 64
"""How many times larger arrays may become for chunks of many short rows."""
FEW = 4
"""After so many refused chunks nothing is tried any more, unless more were taken."""


class NativeReading:
    """Whether rows are read natively, and into what: that changes with the layout, and with what is refused."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.layout: Layout | None = None
        self.waiting: NativeRows | None = None
        """Rows that were read and are not yet in columns; `None` when rows are not read natively."""
        self.taken = self.refused = 0
        """Chunks."""

    def begin(self, chunk: Chunk, layout: Layout) -> NativeRows | None:
        """Where to read the rows of a chunk into. Nothing may wait when the layout is a new one."""
        if layout is not self.layout:
            found, program = library(), program_for(layout, self.plan)
            self.waiting = make_rows(program, found) if program is not None and found is not None else None
            self.layout = layout
        gave_up = self.refused >= FEW and self.refused > self.taken
        return self.waiting if is_readable(chunk) and not gave_up else None

    def has_more_room(self) -> bool:
        """Makes room for more rows; nothing may wait. Whether there is more now."""
        if self.waiting is None or self.waiting.scale >= MAX_SCALE:
            return False
        larger = make_rows(self.waiting.program, self.waiting.library, 2 * self.waiting.scale)
        self.waiting = self.waiting if larger is None else larger
        return larger is not None


def make_rows(program: Program, found: ctypes.CDLL, scale: int = 1) -> NativeRows | None:
    """Room for rows, if there is memory for it."""
    try:
        return NativeRows(program, found, scale)
    except MemoryError:
        return None
