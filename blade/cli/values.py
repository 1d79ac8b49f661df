"""`blade values`: what can be said about a run, with its value and how a text names it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, epilog

if TYPE_CHECKING:
    from blade.report.values import Value

EPILOG = epilog("blade values out never", "blade values out pass@1", "blade values out hard --json")
MOST_SHOWN = 25


def values(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder of a diagnosis or a comparison.", show_default=False)
    ],
    words: Annotated[list[str] | None, typer.Argument(metavar="[WORDS]...", help="Words to search for.")] = None,
    as_json: AsJson = False,
) -> None:
    """List values that a text may name, with their addresses.

    A text is Markdown with values: {{ pass_at_1 | pct }}, {{ buckets.never | count }}, {{ buckets.never | tasks }},
    {{ cite("25:0#3", "words") }}, {{ task("25").c }}, {{ label("25") }}. Filters: pct, pp, num, count, ci, tasks,
    plural("task"), amount, share(whole), where("label", "KG"), total("c"), words, capital, code. `blade report DIR
    --text FILE` renders it, and `blade check` checks it.

    Where no value matches all the words, those that match most of them are listed.

    Exits with 1 when no value matches any word.
    """
    import json

    from blade.audit.evidence import evidence_in
    from blade.cli.terminal import foreign, make_console, print_json, put
    from blade.report.values import goes_by, search_values, stems

    asked = " ".join(words or [])
    found = search_values(evidence_in(folder).values, asked)
    if as_json:
        entries = [{"write": template(value), "value": value.value, "address": value.address} for value in found]
        print_json(json.dumps(entries, ensure_ascii=False, indent=2).encode())
        raise typer.Exit(0 if found else 1)
    console = make_console()
    if found and (missing := [word for word in stems(asked) if not goes_by(found[0], word)]):
        told = f"No value matches all of these words; without {', '.join(missing)}:"
        put(make_console(stderr=True), foreign(told))
    for value in found[:MOST_SHOWN]:
        put(console, foreign(f"{shown_value(value):>12}  {template(value)}"))
    if len(found) > MOST_SHOWN:
        put(console, foreign(f"… and {len(found) - MOST_SHOWN:,} more; add a word, or see them with --json", "dim"))
    if not found:
        put(make_console(stderr=True), foreign("No value matches these words; try fewer, or none to see all."))
    raise typer.Exit(0 if found else 1)


def shown_value(value: "Value") -> str:
    """A value in a column."""
    from blade.report.text import one_line

    return one_line(f"{value.value:.4g}" if isinstance(value.value, float) else str(value.value), 40)


def template(value: "Value") -> str:
    """What to write in a text."""
    if value.kind == "real" and not value.written.endswith("| ci"):
        is_p_value = value.written.endswith(("p_value", "q_value"))
        is_share = 0.0 <= value.value <= 1.0 and not value.written.startswith("effort")  # effort has units of its own
        form = "p_value" if is_p_value else "pct" if is_share else "num"
        return f"{{{{ {value.written} | {form} }}}}"
    return f"{{{{ {value.written}{' | count' if value.kind == 'count' else ''} }}}}"
