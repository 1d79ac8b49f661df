"""The page of a run: one file that holds everything, runs nothing but itself, and splits when it grows large."""

import base64
import hashlib
import html
import re
from pathlib import Path

import numpy as np
import pytest
from page_files import data_of, filed_rollouts, inline_rollouts, page_text
from small_workspaces import diagnose, rollout

from blade.report.page import run_page, trajectories
from blade.report.page.links import filter_link, link
from blade.report.page.render import asset, script, words
from blade.report.page.trajectories import within
from blade.report.workspace import open_workspace, render_again


def test_a_page_holds_every_rollout_and_its_trajectory(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    page = page_text(workspace.folder)
    run = workspace.run()

    data, rollouts = data_of(page), inline_rollouts(page)

    assert [task["task"] for task in data["tasks"]] == run.table.tasks
    assert data["rollouts"]["repeat"] == run.table.repeat.tolist()
    assert [one["row"] for one in rollouts] == list(range(len(run.table)))
    texts = [[item.get("text", "") for item in one.get("items", [])] for one in rollouts]
    assert texts == [[item.text for item in run.rollout_at(row).items] for row in range(len(run.table))]


def test_a_page_asks_for_nothing_from_elsewhere_and_allows_only_its_own_style_and_script(tmp_path: Path) -> None:
    page = html.unescape(page_text(diagnose(tmp_path).folder))

    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    (code,) = re.findall(r'<script type="module">(.*?)</script>', page, re.DOTALL)
    for text in (style, code):
        assert f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'" in page
    assert not re.search(r"(?:src|href)=[\"'](?!#)|url\(|@import|https?://|\sstyle=|\son\w+=", page.replace(code, ""))
    assert "innerHTML" not in code and "eval(" not in code and "import " not in code


def test_the_script_holds_each_module_once_after_those_it_needs() -> None:
    code = script("main.js")

    assert code.count("function el(") == 1
    assert code.index("function el(") < code.index("class RolloutsView") < code.index("function followAddress")
    assert "</script" not in code and "</style" not in asset("style.css")


def test_what_rollouts_say_cannot_end_the_block_it_stands_in(tmp_path: Path) -> None:
    page = page_text(diagnose(tmp_path, [rollout("</script><script>alert(1)</script>", 0, 0.0, "<!--<script>")]).folder)

    assert "alert(1)</script>" not in page and "<!--<script>" not in page
    assert data_of(page)["tasks"][0]["task"] == "</script><script>alert(1)</script>"


def test_a_run_too_large_for_one_file_is_split_into_scripts_and_one_too_large_for_those_says_what_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = diagnose(tmp_path)
    total = int(workspace.run().table.rows.length.sum())
    monkeypatch.setattr(run_page, "INLINE_BYTES", total - 1)
    monkeypatch.setattr(trajectories, "FILE_BYTES", 1)
    render_again(workspace)

    data = data_of(page_text(workspace.folder))

    assert (data["source"], data["left_out"]) == ("files", 0)
    assert inline_rollouts(page_text(workspace.folder)) == []
    assert [one["row"] for one in filed_rollouts(workspace.folder)] == list(range(len(data["rollouts"]["task"])))

    monkeypatch.setattr(run_page, "FILES_BYTES", total - 1)
    render_again(workspace)
    assert data_of(page_text(workspace.folder))["left_out"] == 1

    monkeypatch.undo()
    render_again(workspace)
    assert not (workspace.folder / "report_files").exists()


def test_the_documented_budgets_are_those_of_the_page() -> None:
    told = (Path(__file__).parents[2] / "docs" / "the-page.md").read_text(encoding="utf-8")
    most = f"{trajectories.MOST_ROLLOUTS:,} rollouts"

    for budget in (trajectories.INLINE_BYTES, trajectories.FILES_BYTES):
        assert f"| up to {budget // 1_000_000} MB and {most} |" in told
    assert trajectories.INLINE_BYTES <= trajectories.FILES_BYTES


def test_rollouts_that_are_wanted_fit_first() -> None:
    assert within(np.array([5, 5, 5, 5]), [2, 0, 1, 2, 3], 10) == [0, 2]


def test_a_page_without_its_rollouts_is_an_overview(tmp_path: Path) -> None:
    workspace = diagnose(tmp_path)
    (tmp_path / "math.jsonl").unlink()

    render_again(open_workspace(workspace.folder))

    page = page_text(workspace.folder)
    assert data_of(page)["source"] == "none" and inline_rollouts(page) == []
    assert "The rollouts were not where they had been" in page


@pytest.mark.parametrize(
    ("citation", "expected"),
    [
        pytest.param("25:0#3", "#25:0#3", id="item"),
        pytest.param("a:b?c#d e:1", "#a%3Ab%3Fc%23d%20e:1", id="hostile_key"),
        pytest.param("nothing", "#rollouts", id="no_citation"),
    ],
)
def test_a_citation_is_a_link_that_no_key_can_forge(citation: str, expected: str) -> None:
    assert link(citation) == expected


def test_filters_are_a_link() -> None:
    assert filter_link(cause="BI?", mode="a&b") == "#rollouts?cause=BI%3F&mode=a%26b"


def test_words_in_backticks_are_code_and_everything_is_escaped() -> None:
    assert words("`<b>` & `c`") == "<code>&lt;b&gt;</code> &amp; <code>c</code>"
    assert words("a ` b") == "a ` b"
