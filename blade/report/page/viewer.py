"""What `blade view` shows: the page of a diagnosis, its trajectories straight from the rollout files, and new labels.

Nothing here knows the network. A trajectory is read by its place in the file when it is asked for, so a run of any
size opens at once; only what needs every rollout (tools called, conventions) is taken from a sample of a large run.
"""

import re
import threading
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec

from blade.diagnosis.analyze import AnalyzeOptions
from blade.diagnosis.differences import CallHabits, Conventions, compare_calls, compare_rollout
from blade.diagnosis.judging import decide_success
from blade.diagnosis.labels import Confidence, Evidence, Label
from blade.diagnosis.relabelling import relabel
from blade.errors import InputError, UsageError
from blade.report.page.data import Facet, page_data, tool_facet
from blade.report.page.run_page import costs_of, run_page
from blade.report.page.trajectories import INLINE_BYTES, clean, encoded, gaps, judged, page_rollout, with_gaps
from blade.report.workspace import Workspace, append_label, open_workspace
from blade.rollouts.trajectory import read_items, read_record
from blade.rollouts.values import Item

SAMPLE = 400
"""Rollouts of a large run that tell which tools change anything."""
MOST_HITS = 5_000
SNIPPET = 90
PLAIN_QUERY = re.compile(r"[A-Za-z0-9 _.-]+")
"""A text that stands in JSON as it is, however it was written."""


class NewLabel(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A label as the page sends it."""

    task: str
    """Task key."""
    cause: str
    """The cause."""
    confidence: Confidence
    """How sure the reader is."""
    reason: str
    """Why."""
    evidence: list[Evidence]
    """The proof."""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A rollout that holds a text."""

    row: int
    """Its row."""
    item: int
    """The first item that holds it."""
    snippet: str
    """What stands around it."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What a search found."""

    hits: list[Hit]
    """Rollouts that hold the text."""
    more: bool = False
    """Whether there are more."""


class Viewer:
    """A diagnosis somebody looks at."""

    def __init__(self, workspace: Workspace, *, author: str, token: str) -> None:
        self.workspace, self.author, self.token = workspace, author, token
        self.run = workspace.run()
        self.options = workspace.request.analyze if workspace.request else AnalyzeOptions()
        self.passed = decide_success(self.run.table, self.options.success)[1]
        self.lock = threading.Lock()
        self.conventions, self.facets = self._survey()

    def page(self, *, up: str = "") -> bytes:
        """The page, with the labels as they now stand; `up` is the address of the page that leads to it."""
        now = open_workspace(self.workspace.folder)
        analysis = relabel(now.analysis, now.labels)
        data = page_data(analysis, self.run, self.passed, source="server", token=self.token)
        data = msgspec.structs.replace(data, facets=[*data.facets, *self.facets])
        costs = costs_of(self.run, self.options)
        return b"".join(run_page(analysis, data, costs=costs, passed=self.passed, up=up))

    def rollout(self, row: int) -> bytes:
        """One rollout as JSON.

        Raises:
            UsageError: there is no such row.
        """
        if not 0 <= row < len(self.run.table):
            raise UsageError(f"there is no row {row} in this run.")
        rollout = judged(self.run.rollout_at(row), self.passed[row])
        found = gaps(compare_rollout(rollout), self.conventions)
        return with_gaps(encoded(page_rollout(row, rollout, most=None)), found)

    def search(self, query: str, *, given: bool) -> Found:
        """Rollouts that hold a text, at most `MOST_HITS`."""
        hits = list(islice(self._hits(query.casefold(), given=given), MOST_HITS + 1))
        return Found(hits=sorted(hits[:MOST_HITS], key=lambda hit: hit.row), more=len(hits) > MOST_HITS)

    def label(self, said: bytes) -> Label:
        """Checks a label as `blade label` does and adds it to the folder.

        Raises:
            UsageError: something about it is wrong.
        """
        try:
            new = msgspec.json.decode(said, type=NewLabel)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise UsageError(f"this is not a label: {error}.") from error
        fields = {name: getattr(new, name) for name in new.__struct_fields__}
        with self.lock:
            return append_label(self.workspace, Label(**fields, author=self.author), self.run)

    def _hits(self, needle: str, *, given: bool) -> Iterator[Hit]:
        prefix = needle.encode() if PLAIN_QUERY.fullmatch(needle) else b""
        wanted = self.run.read(range(len(self.run.table)), lambda data: data if prefix in data.lower() else None)
        for row, data in wanted:
            if data is not None:
                items = read_items(read_record(data), self.run.format_of(row))
                hit = find_in(row, items, needle, given=given)
                if hit is not None:
                    yield hit

    def _survey(self) -> tuple[Conventions, list[Facet]]:
        """What passing rollouts tell about tools, from a sample of a large run; of a small one also who calls which."""
        table = self.run.table
        whole = int(table.rows.length.sum()) <= INLINE_BYTES
        habits, tools = CallHabits(), dict[str, list[int]]()
        for row, rollout in self.run.numbered_rollouts(
            range(0, len(table), 1 if whole else max(1, len(table) // SAMPLE))
        ):
            rollout = judged(rollout, self.passed[row])
            habits.add(rollout, compare_calls(rollout))
            for name in {item.name for item in rollout.items if item.kind == "tool_call" and item.name}:
                tools.setdefault(clean(name), []).append(row)
        return habits.conventions(), tool_facet(tools) if whole else []


class Views:
    """What there is to look at: one diagnosis, or a page that leads to several, each opened when it is asked for.

    Args:
        runs: folders of diagnoses by the part of the address they stand below; nothing for the only one.
        pages: finished pages by their address.
    """

    def __init__(self, runs: Mapping[str, Path], pages: Mapping[str, Path], *, author: str, token: str) -> None:
        self.runs, self.pages, self.author, self.token = runs, pages, author, token
        self.opened: dict[str, Viewer] = {}
        self.lock = threading.Lock()

    def viewer(self, name: str) -> Viewer | None:
        """The diagnosis below an address; `None` where there is none."""
        if name not in self.runs:
            return None
        with self.lock:
            if name not in self.opened:
                workspace = open_workspace(self.runs[name])
                self.opened[name] = Viewer(workspace, author=self.author, token=self.token)
            return self.opened[name]

    def finished_page(self, name: str) -> bytes | None:
        """A page that was written earlier; `None` where there is none."""
        try:
            return self.pages[name].read_bytes() if name in self.pages else None
        except OSError as error:
            raise InputError(f"{self.pages[name]}: cannot be read: {error.strerror}; make it again.") from error


def find_in(row: int, items: list[Item], needle: str, *, given: bool) -> Hit | None:
    """The first item that holds a text."""
    for item in items:
        if item.prompt and not given:
            continue
        for text in (item.text, item.name or "", item.error or ""):
            at = text.casefold().find(needle)
            if at >= 0:
                start = max(0, at - SNIPPET // 3)
                around = " ".join(text[start : at + len(needle) + SNIPPET].split())
                return Hit(row=row, item=item.position, snippet=clean(("…" if start else "") + around))
    return None
