from pathlib import Path

import msgspec
from rollout_rows import message, read_rows, rollout

import blade


def test_values_are_short_in_a_console_and_tables_in_a_notebook(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, 1.0), rollout(1, 0, 0.0)])
    analysis, comparison = blade.analyze(run), blade.compare(run, run)
    assert repr(analysis).startswith("Analysis('run', pass_at_1 0.500 [")
    for value in (run, analysis, comparison):
        assert len(repr(value)) < 200
        assert value._repr_html_().startswith("<table>")


def test_a_rollout_and_its_items_are_named_in_a_line(tmp_path: Path) -> None:
    first = read_rows(tmp_path, [rollout("t", 0, 1.0, output=[message("long " * 100)])]).rollout_at(0)
    assert repr(first) == "Rollout('t:0', reward 1.0, 2 items)"
    assert repr(first.items[1]) == f"Item(#1 message assistant: '{'long ' * 12}…')"


def test_a_hostile_name_is_text_in_a_notebook(tmp_path: Path) -> None:
    run = read_rows(tmp_path, [rollout(0, 0, 1.0)])
    assert "<img" not in msgspec.structs.replace(run, name="<img src=x onerror=alert(1)>")._repr_html_()
