import json
from pathlib import Path

from blade_command import airline, blade, diagnosed

WRONG = "# Story\n\npass@1 is 77.0 % over 3 tasks. See `9:9`.\n"


def test_a_report_that_was_just_written_is_true(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    found = blade("check", out / "report.md")

    assert found.exit_code == 0, found.stdout
    assert "0 contradicted, 0 unbound, 0 unverifiable" in found.stdout


def test_rollouts_that_changed_since_they_were_diagnosed_are_told(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    [rows] = tmp_path.glob("*.jsonl")
    rows.write_text(rows.read_text().replace('"reward": 1.0', '"reward": 0.0', 1))
    found = blade("check", out / "report.md")

    assert (found.exit_code, "0 contradicted" in found.stdout) == (1, True)
    assert "have changed since they were diagnosed; run `blade diagnose` again" in found.stderr


def test_rollouts_that_are_gone_are_told(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    [rows] = tmp_path.glob("*.jsonl")
    rows.unlink()
    found = blade("check", out / "report.md")

    assert found.exit_code == 0
    assert "are gone; numbers were held against analysis.json alone" in found.stderr


def test_what_is_wrong_is_listed_with_its_line_the_truth_and_what_to_do(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (tmp_path / "story.md").write_text(WRONG, encoding="utf-8")
    found = blade("check", tmp_path / "story.md", "--analysis", out)

    assert found.exit_code == 1
    assert "1 supported, 2 contradicted, 0 unbound" in found.stdout
    assert "line 3: 77.0 %\n" in found.stdout
    assert "true    50.0 %\n" in found.stdout
    assert "write   {{ metrics.pass_at_1 | pct }}\n" in found.stdout
    assert "line 3: 9:9\n" in found.stdout


def test_an_empty_report_is_no_report(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text(" \n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md")

    assert (found.exit_code, found.stderr.endswith("story.md: is empty; expected a report in Markdown.\n")) == (3, True)


def test_a_report_without_anything_to_check_says_so(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (tmp_path / "story.md").write_text("Most failures come from running out of turns.\n", encoding="utf-8")

    assert "Nothing in it can be checked" in blade("check", tmp_path / "story.md", "--analysis", out).stdout


def test_json_holds_every_claim_that_is_wrong_or_beyond_judging(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (tmp_path / "story.md").write_text(WRONG + "\nIt cost 12 euro.\n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md", "--analysis", out, "--json")
    document = json.loads(found.stdout)

    assert found.exit_code == 1
    assert (document["claims"], document["supported"]) == (4, 1)
    assert [entry["line"] for entry in document["contradicted"]] == [3, 3]
    assert set(document["contradicted"][0]) == {"line", "said", "true", "why"}
    assert [(entry["line"], entry["said"]) for entry in document["unbound"]] == [(5, "12")]
    assert document["unverifiable"] == []


def test_what_is_unbound_fails_unless_it_is_allowed(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (tmp_path / "story.md").write_text("It cost 12 euro.\n", encoding="utf-8")

    assert blade("check", tmp_path / "story.md", "--analysis", out).exit_code == 1
    assert blade("check", tmp_path / "story.md", "--analysis", out, "--allow-unbound").exit_code == 0


def test_a_text_with_values_is_found_rendered_and_checked(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    source, page = tmp_path / "findings.md", tmp_path / "answer.md"
    source.write_text("## Answer\n\npass@1 is {{ pass_at_1 | pct }}.\n", encoding="utf-8")

    assert "{{ metrics.pass_at_1 | pct }}" in blade("values", out, "pass@1").stdout
    assert blade("check", source, "--analysis", out).exit_code == 0
    assert blade("report", out, "--text", source, "--output", page).exit_code == 0
    assert page.read_text(encoding="utf-8") == "## Answer\n\npass@1 is 50.0 %."
    assert blade("check", page, "--analysis", out).exit_code == 0
    alone = blade("check", page)
    assert (alone.exit_code, "name it with --analysis DIR" in alone.stderr) == (2, True)
    page.write_text("## Answer\n\npass@1 is 51.0 %.", encoding="utf-8")
    assert blade("check", page, "--analysis", out).exit_code == 1


def test_a_name_that_is_not_there_is_told_with_its_place_and_what_is_near(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (tmp_path / "findings.md").write_text("A\n\n{{ bukets.never | count }}\n", encoding="utf-8")
    found = blade("report", out, "--text", tmp_path / "findings.md")

    assert found.exit_code == 2
    assert "findings.md:3:4: there is no 'bukets'; did you mean buckets" in found.stderr
    assert blade("values", out, "no such words at all").exit_code == 1


def test_rollouts_are_diagnosed_in_memory(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text("pass@1 is 50 %.\n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md", "--rollouts", airline(tmp_path))

    assert (found.exit_code, "1 supported" in found.stdout) == (0, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["airline.jsonl", "story.md"]


def test_without_rows_a_report_is_checked_against_itself(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text("Of 5 tasks, 7 of 5 fail.\n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md")

    assert found.exit_code == 1
    assert "internal consistency only" in found.stdout
    assert "7 is more than 5" in found.stdout


def test_the_labels_in_force_are_those_of_the_folder(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    (out / "story.md").write_text("Task `2` is KG.\n", encoding="utf-8")
    labelled = blade("label", out, "2", "--cause", "KG", "--cite", "2:0", "--reason", "does not know the city")

    assert labelled.exit_code == 0
    assert blade("check", out / "story.md").exit_code == 0
    assert blade("check", out / "report.md").exit_code == 1  # it was not written again
    assert blade("report", out).exit_code == 0
    assert blade("check", out / "report.md").exit_code == 0


def test_two_places_to_check_against_are_a_wrong_request(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text("Nothing.\n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md", "--analysis", tmp_path, "--rollouts", "x.jsonl")

    assert (found.exit_code, "exclude each other" in found.stderr) == (2, True)


def test_a_report_that_cannot_be_read_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_bytes(b"\xff\xfe\xfa")

    assert blade("check", tmp_path / "story.md").exit_code == 3
    assert blade("check", tmp_path / "none.md").exit_code == 3
    assert blade("check", tmp_path / "story.md", "--analysis", tmp_path / "nowhere").exit_code == 3


def test_hostile_words_of_a_report_do_nothing_to_the_terminal(tmp_path: Path) -> None:
    (tmp_path / "story.md").write_text("7 of 5 \x1b[31mred\x1b[0m tasks\x07\n", encoding="utf-8")
    found = blade("check", tmp_path / "story.md")

    assert "\x1b" not in found.stdout and "\x07" not in found.stdout


def test_braces_quoted_from_rollouts_are_no_values(tmp_path: Path) -> None:
    rows = [{"task": f"{{{{question}}}} {n // 2}", "score": n % 2, "output": "x"} for n in range(6)]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert blade("diagnose", tmp_path / "rows.jsonl", "--out", tmp_path / "out").exit_code == 0
    assert "{{question}}" in (tmp_path / "out" / "report.md").read_text()
    found = blade("check", tmp_path / "out" / "report.md")
    assert (found.exit_code, "0 contradicted" in found.stdout) == (0, True), found.stdout
