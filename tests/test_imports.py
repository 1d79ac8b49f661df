"""The import rule between rooms: data flows one way, so imports may only point back to where it came from.

The rule is checked on the source, not by importing: an import inside a function, a TYPE_CHECKING block or an
`import_module("blade.x")` couples two rooms as much as one at the top of the file.
"""

import ast
import graphlib
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[1]

EVERYONE = {"errors", "_version"}
"""Modules beside the rooms that any room may import; they import nothing but each other."""

READING = {"engine", "rollouts", "metrics"}
COMPUTED = READING | {"diagnosis", "comparison", "report"}
MAKING = {"benchmarks", "environments", "evals"}

ROOMS: dict[str, set[str]] = {
    # The main line: each room may import all rooms before it.
    "engine": set(),
    "rollouts": {"engine"},
    "metrics": {"engine", "rollouts"},
    "diagnosis": READING,
    "comparison": READING | {"diagnosis"},
    "report": READING | {"diagnosis", "comparison"},
    "audit": COMPUTED,
    # The line of benchmarks joins the main line at golden, which checks what benchmark packages promise; its judge
    # may ask a model.
    "golden": COMPUTED | MAKING | {"audit", "llm", "skillkit"},
    # It starts below metrics: these rooms write, read back and aggregate rollouts, but never explain them.
    "benchmarks": READING,
    "environments": READING | {"benchmarks"},
    # A runner asks a model, and may hand it skills.
    "evals": READING | {"benchmarks", "environments", "llm", "skillkit"},
    # A model is asked without knowing what for.
    "llm": set(),
    # A skill is drafted from the fields and failures of rollouts.
    "skillkit": READING | {"diagnosis"},
    # The analyst drives everything drawn to its left.
    "analyst": COMPUTED | MAKING | {"audit", "golden", "llm", "skillkit"},
    "cli": COMPUTED | MAKING | {"audit", "golden", "llm", "analyst", "skillkit", "blade"},
}
"""Room -> rooms it may import. `blade` is the package's own front door, which opens on every room but cli."""

FRONT_DOOR = {"__init__.py", "api.py"}

TERMINAL = {"typer", "rich"}
"""Packages only the command line may know."""


class Import(NamedTuple):
    line: int
    module: str
    """Absolute dotted name, e.g. `blade.metrics.passk`."""


def imports_of(source: str, *, package: str) -> Iterator[Import]:
    """Every import in a module of `package`, wherever in the module it stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = absolute_name(node, package=package)
            yield from (Import(node.lineno, f"{base}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and (name := imported_by_call(node)):
            yield Import(node.lineno, name)


def absolute_name(node: ast.ImportFrom, *, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parents = package.split(".")
    parents = parents[: len(parents) - node.level + 1]
    return ".".join([*parents, *([node.module] if node.module else [])])


def imported_by_call(node: ast.Call) -> str | None:
    called = ast.unparse(node.func)
    if called.split(".")[-1] not in {"import_module", "__import__"} or not node.args:
        return None
    name = node.args[0]
    return name.value if isinstance(name, ast.Constant) and isinstance(name.value, str) else None


def target_room(module: str) -> str | None:
    """The room (or module beside the rooms) an import reaches; None when it leaves blade."""
    package, _, rest = module.partition(".")
    name = rest.split(".")[0]
    if package != "blade":
        return None
    return name if name in ROOMS or name in EVERYONE else "blade"


def allowed_imports(room: str) -> set[str]:
    if room in EVERYONE:
        return EVERYONE
    if room == "blade":
        return EVERYONE | set(ROOMS) - {"cli"} | {"blade"}
    if room == "__main__":
        return {"cli"}
    return EVERYONE | ROOMS.get(room, set()) | {room}


def violations(root: Path) -> list[str]:
    """Imports under root/blade that point the wrong way, as `file:line: room imports room`."""
    found = []
    for path in sorted((root / "blade").rglob("*.py")):
        where = path.relative_to(root)
        room = "blade" if where.parts[1] in FRONT_DOOR else where.parts[1].removesuffix(".py")
        for item in imports_of(path.read_text(encoding="utf-8"), package=".".join(where.parts[:-1])):
            target = target_room(item.module)
            if target is not None and target not in allowed_imports(room):
                found.append(f"{where.as_posix()}:{item.line}: {room} imports {target}")
            if item.module.split(".")[0] in TERMINAL and room != "cli":
                found.append(f"{where.as_posix()}:{item.line}: {room} imports {item.module.split('.')[0]}")
    return found


def test_rooms_import_only_rooms_to_their_left() -> None:
    assert violations(ROOT) == []


def test_every_folder_of_the_package_is_a_room() -> None:
    folders = {path.parent.name for path in (ROOT / "blade").glob("*/*.py")}

    assert folders - set(ROOMS) == set()


def test_the_drawing_for_readers_says_the_same_as_the_rule() -> None:
    drawn = [line for line in (ROOT / "AGENTS.md").read_text(encoding="utf-8").splitlines() if "→" in line]
    chains = [[name.strip() for name in chain.split("→")] for line in drawn for chain in line.split("↗") if chain]
    arrows = [(left, right) for chain in chains for left, right in itertools.pairwise(chain)]

    assert {name for chain in chains for name in chain} == set(ROOMS)
    assert [(left, right) for left, right in arrows if left not in ROOMS[right]] == []


def test_the_rule_itself_has_no_circle() -> None:
    assert list(graphlib.TopologicalSorter(ROOMS).static_order())[-1] == "cli"


@pytest.mark.parametrize(
    ("file", "source", "expected"),
    [
        pytest.param("metrics/a.py", "import blade.report", "metrics imports report", id="import"),
        pytest.param("metrics/a.py", "from blade.report import x", "metrics imports report", id="from_room"),
        pytest.param("metrics/a.py", "from blade import report", "metrics imports report", id="from_package"),
        pytest.param("metrics/a.py", "from ..report import x", "metrics imports report", id="relative"),
        pytest.param("metrics/a.py", "from .. import report", "metrics imports report", id="relative_package"),
        pytest.param("metrics/b/a.py", "from ...cli import x", "metrics imports cli", id="relative_from_deeper"),
        pytest.param("metrics/a.py", "def f(): import blade.cli", "metrics imports cli", id="inside_a_function"),
        pytest.param(
            "metrics/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING: import blade.cli",
            "metrics imports cli",
            id="type_checking",
        ),
        pytest.param("metrics/a.py", "importlib.import_module('blade.cli')", "metrics imports cli", id="by_name"),
        pytest.param("metrics/a.py", "from blade import diagnose", "metrics imports blade", id="front_door"),
        pytest.param("metrics/a.py", "import rich.table", "metrics imports rich", id="rich"),
        pytest.param("__init__.py", "from blade.cli import main", "blade imports cli", id="front_door_to_cli"),
        pytest.param("api.py", "import blade.cli", "blade imports cli", id="api_to_cli"),
        pytest.param("metrics/a.py", "import blade.api", "metrics imports blade", id="room_to_api"),
        pytest.param("errors.py", "import blade.rollouts", "errors imports rollouts", id="errors_import_nothing"),
        pytest.param("skillkit/a.py", "import blade.report", "skillkit imports report", id="skillkit"),
    ],
)
def test_a_wrong_import_is_found(tmp_path: Path, file: str, source: str, expected: str) -> None:
    path = tmp_path / "blade" / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source, encoding="utf-8")

    assert violations(tmp_path) == [f"blade/{file}:{source.count(chr(10)) + 1}: {expected}"]


def test_imports_to_the_left_and_within_a_room_are_allowed(tmp_path: Path) -> None:
    path = tmp_path / "blade" / "metrics" / "a.py"
    path.parent.mkdir(parents=True)
    allowed = ["import numpy", "import blade.errors", "from blade.rollouts import read", "from .passk import pass_at_k"]
    path.write_text("\n".join(allowed), encoding="utf-8")

    assert violations(tmp_path) == []
