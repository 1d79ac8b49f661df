"""`blade search`: find benchmarks and skills by words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from blade.cli.options import AsJson, Root, epilog

if TYPE_CHECKING:
    from blade.benchmarks.search import Hit

EPILOG = epilog("blade search math", "blade search benchmarks tool use --json", "blade search skills funnel")
BENCHMARKS, SKILLS = "benchmarks", "skills"
Found = dict[str, Any]


def search(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[TYPE] QUERY",
            help="Words that must all occur; before them, `benchmarks` or `skills` to find only those.",
            show_default=False,
        ),
    ],
    as_json: AsJson = False,
    root: Root = None,
) -> None:
    """Find benchmarks and skills by words, best first.

    Names, domains, environments, agents and descriptions are searched.

    Finding nothing is not an error: stderr says so, and --json prints an empty list.
    """
    from blade.benchmarks.catalog import find_root
    from blade.benchmarks.search import search as find

    kinds, query = asked(words)
    place = find_root(root)
    hits = find(query, [candidate for kind in kinds for candidate in candidates(kind, place)])
    if not hits:
        typer.echo(f"blade: no {' or '.join(kinds)} match '{query}' in {place}.", err=True)
    elif hits[0].is_guess:
        typer.echo(f"blade: nothing matches '{query}' exactly; these are close.", err=True)
    show(hits, as_json=as_json)


def asked(words: list[str]) -> tuple[list[str], str]:
    """The kinds and the query a user means."""
    if len(words) > 1 and words[0] in (BENCHMARKS, SKILLS):
        return [words[0]], " ".join(words[1:])
    return [BENCHMARKS, SKILLS], " ".join(words)


def candidates(kind: str, root: Path) -> list[tuple[Found, dict[str, str | None]]]:
    """What there is of a kind, with the texts it is found by."""
    found = skills(root) if kind == SKILLS else benchmarks(root)
    fields = ("name", "domain", "environment", "agent", "description")
    return [(one, {field: one.get(field) for field in fields}) for one in found]


def benchmarks(root: Path) -> list[Found]:
    import msgspec

    from blade.benchmarks.catalog import read_catalog
    from blade.benchmarks.listing import list_benchmark
    from blade.cli.list_benchmarks import say_problems

    catalog = read_catalog(root)
    say_problems(catalog.problems)
    rows = [msgspec.to_builtins(list_benchmark(benchmark)) for benchmark in catalog.benchmarks]
    return [{"type": "benchmark", **row} for row in rows]


def skills(root: Path) -> list[Found]:
    from blade.errors import InputError
    from blade.skillkit.skill import find_skills, read_skill

    try:
        read = [read_skill(folder) for folder in find_skills(root / "skills")]
    except InputError:
        return []  # no skills in this checkout, or one that `blade skill validate` explains
    return [{"type": "skill", "name": skill.name, "description": skill.description} for skill in read]


def show(hits: "list[Hit[Found]]", *, as_json: bool) -> None:
    """The hits for a program, or a line each for a person."""
    from blade.cli.terminal import foreign, grid, make_console, print_as_json, put
    from blade.report.text import one_line

    if as_json:
        print_as_json([{**hit.value, "score": round(hit.score, 3)} for hit in hits])
    elif hits:
        table = grid("type", "name", "domain", "description", numbers=False)
        for hit in hits:
            one = hit.value
            texts = (one["type"], one["name"], one.get("domain") or "–", one_line(one.get("description") or "–", 160))
            table.add_row(*(foreign(text, style) for text, style in zip(texts, ("dim", "cyan", "", ""), strict=True)))
        put(make_console(), table)
