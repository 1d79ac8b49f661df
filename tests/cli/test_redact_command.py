"""`blade redact` writes a text that can be shared, and says what it took out."""

from pathlib import Path

from blade_command import blade, diagnosed, document

SECRET = "hf_" + "aB3dE5fG7hJ9kL1mN2pQ"


def report(folder: Path, text: str = f"Score 1.\nkey {SECRET}\n") -> Path:
    path = folder / "report.md"
    path.write_text(text)
    return path


def test_the_text_is_on_stdout_and_what_was_removed_on_stderr(tmp_path: Path) -> None:
    found = blade("redact", report(tmp_path))

    assert (found.exit_code, found.stdout) == (0, "Score 1.\nkey [redacted:api_key]\n")
    assert found.stderr.endswith("report.md:2: api_key hf_a… (23 characters)\n")


def test_the_text_goes_to_a_file_when_asked(tmp_path: Path) -> None:
    found = blade("redact", report(tmp_path), "--output", tmp_path / "shared.md")

    assert (found.stdout, (tmp_path / "shared.md").read_text()) == ("", "Score 1.\nkey [redacted:api_key]\n")


def test_a_check_fails_when_something_is_found(tmp_path: Path) -> None:
    assert blade("redact", report(tmp_path), "--check").exit_code == 1
    assert blade("redact", report(tmp_path, "Score 1.\n"), "--check").exit_code == 0


def test_the_findings_are_json_when_asked(tmp_path: Path) -> None:
    found = document(blade("redact", report(tmp_path), "--json"))

    assert [(one["kind"], one["line"]) for one in found["found"]] == [("api_key", 2)]


def test_a_missing_report_is_one_sentence(tmp_path: Path) -> None:
    found = blade("redact", tmp_path / "none.md")

    assert (found.exit_code, found.stderr.count("\n")) == (3, 1)


def test_a_shareable_report_stands_beside_the_report(tmp_path: Path) -> None:
    out = diagnosed(tmp_path)
    secret = f"uses {SECRET}"
    blade("label", out, "2", "--cause", "KG", "--cite", "2:0", "--reason", secret, "--author", "human:ada")
    found = blade("report", out, "--shareable")

    assert found.exit_code == 0
    tail = SECRET.removeprefix("hf_")  # a report writes hf\\_
    assert tail in (out / "appendix.md").read_text() and tail not in (out / "appendix.shareable.md").read_text()
    assert tail not in (out / "report.shareable.md").read_text()
    assert found.stderr == (
        "report.shareable.md: 0 private things removed\nappendix.shareable.md: 1 private thing removed\n"
        "Share only these two: report.html and the other files here are not redacted.\n"
    )
