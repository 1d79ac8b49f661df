"""Pages as a reader sees them: clicked through in a real browser, from disk and from `blade view`."""

import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from browser import Browser, start_browser
from rollout_rows import Row, call, message, read_files, result, rollout, thought
from selenium.webdriver.common.keys import Keys
from small_workspaces import diagnose

from blade.diagnosis import diagnose as diagnose_run
from blade.report.comparison_report import write_comparison
from blade.report.page import run_page, trajectories
from blade.report.page.runs_page import write_runs_page
from blade.report.page.server import ViewServer
from blade.report.page.viewer import Views
from blade.report.workspace import render_again

ACCESSIBILITY = (Path(__file__).parent / "accessibility.js").read_text(encoding="utf-8")
HOSTILE = (
    "<img src=x onerror='window.pwned=1'></script><script>window.pwned=1</script>"
    "\"><svg onload=window.pwned=1><a href='javascript:window.pwned=1'>k</a> {{7*7}} https://evil.example"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for all tests here."""
    yield from start_browser()


def desk_rows(model: str = "m") -> list[Row]:
    """Twelve tasks with three rollouts each that look something up and then book it, or do not."""
    rows: list[Row] = []
    for task in range(12):
        for repeat in range(3):
            passed = task % 3 == 0 or (task % 3 == 1 and repeat == 0)
            steps = [
                thought(f"think about {task}"),
                call("find_room", f'{{"task": {task}}}', "c1"),
                result(f"room {task} is free", "c1"),
            ]
            if passed:
                steps += [call("book_room", f'{{"room": {task}}}', "c2"), result("booked", "c2")]
            steps.append(message("All done, zebra." if passed else "Sorry, nothing found."))
            fields = {"level": "hard" if task % 2 else "easy", "response": {"model": model}}
            rows.append(rollout(task, repeat, float(passed), output=steps, **fields))
    return rows


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A diagnosis of those rollouts."""
    return diagnose(tmp_path_factory.mktemp("desk"), desk_rows()).folder


@pytest.fixture
def page(browser: Browser, folder: Path) -> Iterator[Browser]:
    """Its page, opened from disk; nothing may complain by the end."""
    browser.size(1280)
    browser.complaints()
    browser.open(folder / "report.html")
    yield browser
    assert browser.complaints() == []


def test_the_overview_answers_first_and_the_grid_leads_to_a_rollout(page: Browser) -> None:
    assert page.text(".answer p").startswith("pass@1 is 44.4 %")
    assert len(page.all("a.cell")) == 36
    page.run("document.querySelector('[data-row=\"4\"]').dispatchEvent(new MouseEvent('mouseover', {bubbles: true}))")
    assert page.text(".tip").startswith("1:1 failed")

    page.one('a.cell[data-row="4"]').click()

    assert page.text(".detail h2") == "1:1"
    assert page.run("return location.hash") == "#1:1"
    assert "Sorry, nothing found." in page.text(".trajectory")


def test_the_grid_sorts_by_rate_task_mode_cause_and_slice(page: Browser) -> None:
    first = {}
    for option in page.all("#grid-order option"):
        page.run(
            "const s = arguments[0].parentNode; s.value = arguments[0].value; s.dispatchEvent(new Event('change'))",
            option,
        )
        heads = page.run("return [...document.querySelectorAll('.grid-group h3')].map(n => n.firstChild.textContent)")
        first[option.get_attribute("value")] = (heads, page.one("a.cell").get_attribute("data-row"))

    assert first["rate"] == ([], "0") and first["task"] == ([], "0")
    assert first["field.level"][0] == ["easy", "hard"]
    assert set(first) >= {"rate", "task", "cause", "field.level"}


def test_arrow_keys_walk_the_grid_and_enter_opens(page: Browser) -> None:
    page.run("document.querySelector('a.cell[tabindex=\"0\"]').focus()")
    for key in (Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT):
        page.driver.switch_to.active_element.send_keys(key)
    name = page.driver.switch_to.active_element.get_attribute("aria-label") or ""
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)

    assert page.text(".detail h2") == name.split(" ")[0]


def test_filters_combine_and_live_in_the_address(page: Browser) -> None:
    page.go("#rollouts")
    page.wait_text(".status", "36 rollouts")
    for name, value in (("bucket", "sometimes"), ("verdict", "fail"), ("field.level", "hard"), ("tool", "find_room")):
        page.run(
            "const s = document.querySelector(`select[name='${arguments[0]}']`); s.value = arguments[1];"
            "s.dispatchEvent(new Event('change'))", name, value
        )  # fmt: skip
    page.wait_text(".status", "4 of 36 rollouts")
    assert page.names() == ["1:1", "1:2", "7:1", "7:2"]

    address = page.run("return location.href")
    page.open(address)
    page.wait_text(".status", "4 of 36 rollouts")
    page.driver.switch_to.active_element.send_keys("j")
    page.wait_text(".detail h2", "1:1")
    page.one("button.step[title^=next]").click()
    page.wait_text(".detail h2", "1:2")
    page.wait_text(".position", "2 of 4")
    page.run("document.activeElement.blur()")
    page.driver.switch_to.active_element.send_keys("k")
    page.wait_text(".detail h2", "1:1")


def test_a_search_finds_what_was_said_in_any_trajectory(page: Browser) -> None:
    page.go("#rollouts?q=ZEBRA")
    page.wait_text(".status", "16 of 36 rollouts")
    assert page.text(".list .snippet mark") == "zebra"

    page.one(".list a").click()

    assert "zebra" in page.text(".item.cited mark")
    page.go("#rollouts?q=nobody-said-this")
    page.wait_text(".list .empty", "No rollout passes these filters.")


def test_a_citation_is_a_link_to_its_item(page: Browser) -> None:
    page.go("#2:1#3")
    cited = page.one(".item.cited")

    assert cited.get_attribute("data-item") == "3"
    assert page.run("return document.activeElement === arguments[0]", cited)
    page.go("#2:99")
    page.wait_text(".detail .empty", "There is no rollout 2:99")


def test_two_rollouts_stand_side_by_side_with_the_fork_marked(page: Browser) -> None:
    page.go("#1:0?vs=1")
    page.wait_text(".fork", "The actions diverge here")

    after = page.run("return document.querySelector('.fork').nextElementSibling.textContent")
    assert "book_room" in after and "nothing here" in after
    page.one(".pair .lead button").click()
    assert page.run("return document.activeElement.id") == "fork"
    assert page.text(".same summary") == "4 items the same"
    page.one(".same summary").click()
    page.wait(lambda: len(page.all(".same .pair-row")) == 4)


def test_each_side_is_held_against_what_its_task_expects(browser: Browser, tmp_path: Path) -> None:
    wanted = [{"name": "book_room", "arguments": '{"room": 1}'}]
    output = [call("book_room", '{"room": 1}', "c1"), result("booked", "c1")]
    rows = [rollout("t", r, 1.0 - r, output=output if not r else [message("No.")], ground_truth=wanted) for r in (0, 1)]
    browser.size(1280)

    browser.open(diagnose(tmp_path, rows).folder / "report.html", "#t:0?vs=1")

    browser.one(".strayed")
    assert [side.text.splitlines()[1] for side in browser.all(".strayed")] == [
        "no difference found",
        "book_room was expected and not called",
    ]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_every_view_fits_its_window_in_both_schemes(page: Browser, width: int, dark: bool) -> None:
    page.size(width, dark=dark)
    for hash in ("#overview", "#rollouts", "#1:0#2", "#1:0?vs=1"):
        page.go(hash)
        page.wait(lambda hash=hash: "overview" in hash or page.all(".list li"))
        assert page.run("return document.documentElement.scrollWidth") <= width, hash
    paper = page.run("return getComputedStyle(document.body).backgroundColor")
    assert (paper == "rgb(22, 24, 28)") == dark
    page.run("document.getElementById('theme').click()")
    assert page.run("return getComputedStyle(document.body).backgroundColor") != paper
    page.run("document.getElementById('theme').click(); localStorage.clear()")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_every_text_stands_out_and_every_control_has_a_name(page: Browser, dark: bool) -> None:
    page.size(1280, dark=dark)
    for hash in ("#overview", "#rollouts?verdict=fail", "#1:0#2", "#1:0?vs=1"):
        page.go(hash)
        page.wait(lambda hash=hash: "overview" in hash or page.all(".list li"))
        page.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        assert page.run(ACCESSIBILITY) == [], hash


def test_the_first_key_skips_to_the_content(page: Browser) -> None:
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert page.driver.switch_to.active_element.text == "Skip to the content"
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait(lambda: page.run("return document.activeElement.id") == "main")


def test_filters_in_force_are_shown_and_dropped_one_by_one(page: Browser) -> None:
    page.go("#rollouts?verdict=fail&field.level=hard")
    page.wait_text(".chips", "Verdict: failed")
    assert [chip.text for chip in page.all(".chips button")] == ["Verdict: failed ✕", "level: hard ✕", "Clear all ✕"]

    page.all(".chips button")[0].click()

    page.wait(lambda: page.run("return location.hash") == "#rollouts?field.level=hard")
    assert page.all(".chips button")[0].text == "level: hard ✕" and len(page.all(".chips button")) == 1


@pytest.mark.parametrize("width", [1280, 400])
def test_long_names_do_not_widen_the_page(browser: Browser, tmp_path: Path, width: int) -> None:
    name = "path/" + "x" * 150
    output = [call("y" * 90, '{"a": "' + "z" * 300 + '"}', "c1"), result("w" * 300, "c1"), message("v" * 300)]
    rows = [
        rollout(f"{name}{task}", repeat, float(repeat), output=output, **{f"field_{name}": f"{task % 2} {name}"})
        for task in range(4)
        for repeat in range(2)
    ]
    workspace = diagnose(tmp_path, rows, slices=(f"field_{name}",))
    browser.size(width)
    for hash in ("#overview", "#rollouts", f"#{quote(name, safe='')}0:0", f"#{quote(name, safe='')}0:0?vs=1"):
        browser.open(workspace.folder / "report.html", hash)
        browser.one(".answer p" if hash == "#overview" else ".list li" if hash == "#rollouts" else ".detail h2")
        assert browser.run("return document.documentElement.scrollWidth") <= width, hash


def test_parts_beside_the_page_are_loaded_from_disk_when_they_are_needed(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = diagnose(tmp_path, desk_rows())
    monkeypatch.setattr(run_page, "INLINE_BYTES", 0)
    monkeypatch.setattr(trajectories, "FILE_BYTES", 4000)
    render_again(workspace)
    browser.complaints()

    browser.open(workspace.folder / "report.html", "#7:2")

    browser.wait_text(".trajectory", "Sorry, nothing found.")
    browser.go("#rollouts?q=zebra")
    browser.wait_text(".status", "16 of 36 rollouts")
    assert browser.complaints() == []
    (workspace.folder / "report_files" / "part-0000.js").unlink()
    browser.open(workspace.folder / "report.html", "#0:0")
    browser.wait_text(".detail", "part-0000.js is not beside the page")
    browser.complaints()


def test_a_comparison_leads_from_the_verdict_to_both_rollouts(browser: Browser, tmp_path: Path) -> None:
    worse = [{**row, "reward": 0.0} if row["_ng_task_index"] in (0, 3) else row for row in desk_rows("n")]
    runs = read_files(tmp_path, {"a.jsonl": desk_rows(), "b.jsonl": worse})
    write_comparison(tmp_path / "out", [diagnose_run(run) for run in runs])
    browser.size(1280)
    browser.complaints()
    browser.open(tmp_path / "out" / "comparison.html")

    assert browser.text(".matrix td.worse") == "2"
    assert browser.run(ACCESSIBILITY) == []
    browser.one("#regressed .links a").click()

    browser.wait_text(".detail h2", "0")
    browser.wait_text(".pair .lead", "All")
    assert browser.run(ACCESSIBILITY) == []
    browser.size(400)
    assert browser.run("return document.documentElement.scrollWidth") <= 400
    assert browser.complaints() == []


def hostile_rows() -> list[Row]:
    """Rows in which every text a writer of rollouts controls is hostile."""
    rows: list[Row] = []
    for task in (f"a{HOSTILE}", "b"):
        for repeat in range(2):
            output = [
                thought(HOSTILE),
                call(HOSTILE, HOSTILE, "c1"),
                result(f"Error: {HOSTILE}", "c1"),
                message(HOSTILE),
            ]
            fields = {"level": HOSTILE, f"x{HOSTILE}": HOSTILE, "agent_ref": {"name": HOSTILE}, "error": HOSTILE}
            rows.append(rollout(task, repeat, float(repeat), output=output, response={"model": HOSTILE}, **fields))
            rows[-1]["responses_create_params"]["input"] = [message(HOSTILE, "system"), message(HOSTILE, "user")]
    return rows


def assert_unharmed(browser: Browser) -> None:
    """Nothing foreign ran, became markup or can be followed."""
    assert browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, iframe, object, embed, link, base').length") == 0
    hrefs = browser.run("return [...document.querySelectorAll('a')].map(a => a.getAttribute('href'))")
    assert [href for href in hrefs if not href.startswith("#")] == []
    assert browser.complaints() == []


def test_hostile_text_in_every_field_never_runs(browser: Browser, tmp_path: Path) -> None:
    name = HOSTILE.replace("/", "")[:120]
    runs = read_files(tmp_path / "in", {f"{name}.jsonl": hostile_rows(), "b.jsonl": hostile_rows()[::-1]})
    write_comparison(tmp_path / "cmp", [diagnose_run(run) for run in runs])
    write_runs_page(tmp_path / "runs", [diagnose_run(run) for run in runs], ["a", "b"])
    workspace = diagnose(tmp_path, hostile_rows(), slices=("level",))
    browser.complaints()
    browser.open(tmp_path / "runs" / "report.html")
    assert name in browser.text(".runs") and browser.run("return window.pwned") is None
    assert browser.run("return document.querySelectorAll('img, main script, base').length") == 0
    assert browser.run(ACCESSIBILITY) == []
    assert browser.complaints() == []
    for page in (workspace.folder / "report.html", tmp_path / "cmp" / "comparison.html"):
        browser.open(page)
        assert browser.text(".answer p")
        assert_unharmed(browser)
        links = browser.run("return [...document.querySelectorAll('main a')].map(a => a.getAttribute('href'))")
        for hash in [
            *dict.fromkeys(links),
            "#rollouts?q=onerror",
            "#rollouts?q=onerror&given=1",
            "#b:0?vs=1",
            f"#{HOSTILE}",
        ]:
            browser.go(hash)
            browser.run("document.querySelectorAll('details').forEach(one => one.open = true)")
        browser.wait(lambda: browser.run("return document.readyState") == "complete")
        assert_unharmed(browser)
    browser.open(workspace.folder / "report.html", "#b:0")
    browser.wait_text(".trajectory", "onerror='window.pwned=1'")


def test_a_script_that_is_not_ours_is_refused_by_the_policy(browser: Browser, folder: Path) -> None:
    browser.open(folder / "report.html")
    for tag, code in (("script", "window.pwned = 1"), ("style", "body { color: red }")):
        add = (
            f"const made = document.createElement({tag!r}); made.textContent = arguments[0]; document.body.append(made)"
        )
        browser.run(f"try {{ {add} }} catch {{}}", code)
    browser.run("try { document.querySelector('footer').innerHTML = '<img src=x onerror=window.pwned=1>' } catch {}")
    assert browser.run("return window.pwned") is None
    assert browser.run("return getComputedStyle(document.body).color") != "rgb(255, 0, 0)"
    assert browser.complaints() != []


def test_a_task_is_labelled_in_the_page_that_is_served(browser: Browser, tmp_path: Path) -> None:
    workspace = diagnose(tmp_path, [*hostile_rows(), rollout("c", 0, 0.0), rollout("c", 1, 0.0)])
    server = serve(Views({"": workspace.folder}, {}, author=f"human:{HOSTILE}", token="page"))
    browser.size(1280)
    browser.complaints()
    browser.open(server.url, "#c:1")
    browser.wait_text(".trajectory", "answer c 1")

    browser.one(".labelling summary").click()
    browser.run("const s = document.querySelector('.label-form [name=cause]'); s.value = 'KG'")
    browser.one("[name=reason]").send_keys(HOSTILE)
    browser.one("[name=quote]").send_keys("answer c 2")
    browser.one(".label-form button[type=submit]").click()
    browser.wait_text(".label-form [role=status]", "does not occur there verbatim")
    browser.complaints()  # the browser lists the refused request
    browser.one("[name=quote]").clear()
    browser.one("[name=quote]").send_keys("answer c 1")
    browser.one(".label-form button[type=submit]").click()
    browser.wait_text(".label-form [role=status]", "Labelled KG")

    browser.driver.refresh()
    browser.wait_text(".cause", HOSTILE)
    browser.go("#rollouts?q=answer%20c")
    browser.wait_text(".status", "2 of 6 rollouts")
    assert_unharmed(browser)
    server.shutdown()
    server.server_close()


def serve(views: Views) -> ViewServer:
    server = ViewServer(views)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    return server


def test_several_runs_are_served_from_their_table_down_to_a_trajectory(browser: Browser, tmp_path: Path) -> None:
    runs = [diagnose(tmp_path / model, desk_rows(model)) for model in ("small", "large")]
    write_runs_page(tmp_path, [diagnose_run(one.run()) for one in runs], ["small", "large"])
    planted = (tmp_path / "report.html").read_text().replace("</main>", "</main><script>window.pwned = 1</script>")
    # Even one that says it is allowed to.
    (tmp_path / "report.html").write_text(planted.replace("Content-Security-Policy", "X"))
    folders = {one.folder.parent.name: one.folder for one in runs}
    server = serve(Views(folders, {"": tmp_path / "report.html"}, author="human:ada", token="page"))
    browser.size(1280)

    browser.open(server.url)
    browser.one("a[href='large/report.html']").click()
    browser.wait_text(".brand", "All runs")
    browser.go("#1:0")
    browser.wait_text(".trajectory", "All done, zebra.")
    assert browser.run("return location.pathname") == "/large/report.html"
    browser.one(".brand").click()

    browser.wait_text("#runs", "math")
    assert browser.run("return window.pwned") is None
    browser.complaints()
    server.shutdown()
    server.server_close()


def test_five_thousand_rollouts_open_at_once(browser: Browser, tmp_path: Path) -> None:
    rows = [
        rollout(task, repeat, float((task * 7 + repeat) % 3 == 0), output=[message(f"said {task} {repeat}")])
        for task in range(1000)
        for repeat in range(5)
    ]
    workspace = diagnose(tmp_path, rows)
    browser.size(1280)
    browser.open(workspace.folder / "report.html")

    assert len(browser.all("a.cell")) == 5000
    loaded = browser.run("return performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
    assert loaded < 5000  # 1,000 on an idle machine; the others' tests run beside this one
    browser.go("#rollouts?q=said%20777%203")
    browser.wait_text(".status", "1 of 5,000 rollouts")
