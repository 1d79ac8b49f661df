"""`_inherit_from`, `_copy` and `_delete_key`: how a config builds on parts of another without repeating them.

`_inherit_from: a.b` moves: the mapping becomes what stands at `a.b` with its own keys laid over it, and `a.b` leaves
the config, so that only the specific instance remains. `_copy` leaves it in place. `_delete_key: "x, y"` takes keys out
of what was inherited or merged. As a text, `${inherit_from:a.b}` and `${copy:a.b}` do the same for any value.
Everything refers to the config as merged, so the order of entries does not matter and several may inherit from one.

`${a.b}` stands for a value elsewhere in the config, `???` for one that nobody has given yet. What cannot be filled in
stays `???` and is listed with its place: whether that matters depends on who asks. The environment is not read, since a
config may come from a stranger: `${oc.env:NAME,default}` gives its default. `${oc.select:path,default}` gives what
stands at the path, or its default.
"""

import difflib
import re
from typing import Any, NamedTuple

from blade.benchmarks.includes import UNSET, kind, merge
from blade.benchmarks.nodes import (
    MAX_DEPTH,
    MAX_VALUES,
    ConfigError,
    Node,
    Place,
    make_list,
    make_map,
    parse_nodes,
    plain,
)
from blade.errors import Problem

INHERIT, COPY, DELETE = "_inherit_from", "_copy", "_delete_key"
TEXT_FORM = re.compile(r"\$\{(inherit_from|copy):([^{}]*)\}")

Path = tuple[str, ...]


class Reference(NamedTuple):
    """What a value builds on."""

    path: Path
    moves: bool
    """Whether what it names leaves the config."""
    place: Place


def apply_directives(merged: Node, *, whole: bool = True) -> Node:
    """The config with every directive carried out; of one that is not whole, what it refers to in vain is left out."""
    work = Directives(merged, whole=whole)
    result = work.resolve(merged)
    for path in work.moved:
        result = without(result, path)
    return result


class Directives:
    """Carries out directives of one config; keeps what it moves, and what it is in the middle of."""

    def __init__(self, tree: Node, *, whole: bool) -> None:
        self.tree = tree
        self.whole = whole
        self.moved: dict[Path, None] = {}
        self.active: list[Path] = []
        self.depth = 0

    def resolve(self, node: Node, base: Node | None = None) -> Node:
        """A value with its directives carried out and laid over `base`."""
        self.depth += 1
        if self.depth > 2 * MAX_DEPTH:
            raise ConfigError(f"{node.place}: inheritance nests deeper than {2 * MAX_DEPTH} levels.")
        try:
            result = self.resolve_map(node, base) if node.is_map else self.resolve_other(node, base)
        finally:
            self.depth -= 1
        if result.size > MAX_VALUES:
            raise ConfigError(f"{node.place}: inherits more than {MAX_VALUES:,} values.")
        return result

    def resolve_map(self, node: Node, base: Node | None) -> Node:
        deleted = deleted_keys(node)
        # A directive may be deleted too, so that an includer can undo what it includes.
        reference = None if {INHERIT, COPY} & {*deleted} else reference_of(node)
        if reference is not None:
            inherited = self.referred(reference)
            if inherited.value == UNSET:
                return Node(UNSET, node.place)
            base = inherited if base is None else merge(base, inherited)
        if base is not None and not base.is_map:
            base = None
        own = {key: child for key, child in node.value.items() if key not in (INHERIT, COPY, DELETE)}
        values: dict[str, Node] = dict(base.value) if base is not None else {}
        for key in deleted:
            if key not in node.value and key not in values:
                raise ConfigError(f"{node.place}: {DELETE} names '{key}', which is not there to delete.")
            (own if key in own else values).pop(key, None)
        for key, child in own.items():
            values[key] = self.resolve(child, values.get(key))
        return make_map(values, node.place)

    def resolve_other(self, node: Node, base: Node | None) -> Node:
        if isinstance(node.value, list):
            return make_list([self.resolve(child) for child in node.value], node.place)
        match = TEXT_FORM.fullmatch(node.value.strip()) if isinstance(node.value, str) else None
        if match is not None:
            return self.referred(Reference(split(match[2]), match[1] == "inherit_from", node.place))
        return base if base is not None and node.value == UNSET else node

    def referred(self, reference: Reference) -> Node:
        """The value a reference names, itself resolved."""
        if reference.path in self.active:
            circle = " from ".join(".".join(path) for path in [*self.active, reference.path])
            raise ConfigError(f"{reference.place}: inherits from itself: {circle}.")
        self.active.append(reference.path)
        try:
            found = self.resolve(self.look_up(reference))
        finally:
            self.active.pop()
        if reference.moves:
            self.moved[reference.path] = None
        return found

    def look_up(self, reference: Reference) -> Node:
        node = self.tree
        for part in reference.path:
            child = node.get(part)
            if child is None and reference_of(node) is not None:
                child = self.resolve(node).get(part)
            if child is None and not self.whole:
                return make_map({}, reference.place)
            if child is None:
                raise ConfigError(nowhere(reference, node))
            if child.value == UNSET:
                return child
            node = child
        return node


def reference_of(node: Node) -> Reference | None:
    """What a mapping inherits from, or copies."""
    for key in (INHERIT, COPY):
        named = node.get(key)
        if named is not None:
            if not isinstance(named.value, str):
                raise ConfigError(f"{named.place}: {key} is {kind(named)}, not the path of an entry.")
            return Reference(split(named.value), key == INHERIT, named.place)
    return None


def deleted_keys(node: Node) -> list[str]:
    named = node.get(DELETE)
    if named is None:
        return []
    if not isinstance(named.value, str):
        raise ConfigError(f"{named.place}: {DELETE} is {kind(named)}, not keys separated by commas.")
    return [key.strip() for key in named.value.split(",") if key.strip()]


def nowhere(reference: Reference, node: Node) -> str:
    names = list(node.value) if node.is_map else []
    close = next((difflib.get_close_matches(part, names, n=1) for part in reference.path if part not in names), [])
    hint = f"; did you mean '{close[0]}'?" if close else "; is the file that defines it among config_paths?"
    return f"{reference.place}: refers to '{'.'.join(reference.path)}', which is nowhere in the config{hint}"


def split(path: str) -> Path:
    return tuple(part.strip() for part in path.split("."))


def without(node: Node, path: Path) -> Node:
    """A tree without what stands at a path, if anything does."""
    child = node.get(path[0])
    if child is None:
        return node
    values = dict(node.value)
    if len(path) == 1:
        del values[path[0]]
    else:
        values[path[0]] = without(child, path[1:])
    return make_map(values, node.place)


INNERMOST = re.compile(r"(?<!\\)\$\{([^${}]*)\}")
STEP = re.compile(r"[^.\[\]]+")
ENVIRONMENT, SELECT = "oc.env", "oc.select"


def interpolate(tree: Node) -> tuple[Node, list[Problem]]:
    """The config with its references filled in, and every value that is still unset."""
    work = Interpolation(tree)
    filled = work.fill(tree, ())
    return filled, list(dict.fromkeys([*work.unset, *work.circles]))


class Interpolation:
    """Fills in references of one config."""

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self.unset: list[Problem] = []
        self.circles: list[Problem] = []
        self.active: list[Path] = []
        self.spent = 0

    def fill(self, node: Node, path: Path) -> Node:
        """A value with everything in it filled in; `path` is where it stands."""
        if isinstance(node.value, dict):
            return make_map({key: self.fill(child, (*path, key)) for key, child in node.value.items()}, node.place)
        if isinstance(node.value, list):
            return make_list([self.fill(child, (*path, str(i))) for i, child in enumerate(node.value)], node.place)
        if node.value == UNSET:
            return self.miss(node, path, "must be given (???)")
        return self.fill_text(node, path) if isinstance(node.value, str) and "${" in node.value else node

    def fill_text(self, node: Node, path: Path) -> Node:
        text: str = node.value
        while (match := INNERMOST.search(text)) is not None:
            found = self.referred(node, path, match[1].strip())
            if found is None:
                return self.miss(node, path, f"refers to '{match[0]}', which is not set")
            if match[0] == text.strip():
                return found._replace(place=node.place)
            text = text[: match.start()] + str(plain(found)) + text[match.end() :]
            if len(text) > MAX_VALUES:
                raise ConfigError(f"{node.place}: unfolds to more than {MAX_VALUES:,} characters.")
        return Node(text.replace("\\${", "${"), node.place)

    def referred(self, node: Node, path: Path, name: str) -> Node | None:
        """What a reference names; `None` when that is not set."""
        if ":" in name:
            return self.resolved(node, path, *name.split(":", 1))
        target = absolute(name, path)
        if target in self.active or target == path[: len(target)]:
            self.circles.append(unset_problem(node, path, f"refers to '${{{name}}}', which leads back to it"))
            return None
        if len(self.active) > MAX_DEPTH:
            raise ConfigError(f"{node.place}: references follow each other more than {MAX_DEPTH} times.")
        self.active.append(target)
        before = len(self.unset)
        try:
            found = self.look_up(target)
            if found is None or found.value == UNSET:
                return None
            self.spend(found, node)
            filled = self.fill(found, target)
        finally:
            self.active.pop()
            del self.unset[before:]  # told where it stands
        return None if filled.value == UNSET else filled

    def spend(self, found: Node, node: Node) -> None:
        self.spent += found.size
        if self.spent > MAX_VALUES:
            raise ConfigError(f"{node.place}: unfolds to more than {MAX_VALUES:,} values.")

    def resolved(self, node: Node, path: Path, resolver: str, arguments: str) -> Node | None:
        """What one of the resolvers that configs use gives; `None` for any other."""
        first, comma, default = arguments.partition(",")
        if resolver not in (ENVIRONMENT, SELECT):
            return None
        found = self.referred(node, path, first.strip()) if resolver == SELECT else None
        if found is None and comma:
            return parse_nodes(default.strip() or "''", name=node.place.file)._replace(place=node.place)
        return found

    def look_up(self, path: Path) -> Node | None:
        node: Node | None = self.tree
        for step, part in enumerate(path):
            if node is not None and isinstance(node.value, str) and "${" in node.value:
                node = self.fill_text(node, path[:step])
            value: Any = node.value if node is not None else None
            if isinstance(value, list):
                node = value[int(part)] if part.isdecimal() and int(part) < len(value) else None
            else:
                node = node.get(part) if node is not None else None
        return node

    def miss(self, node: Node, path: Path, why: str) -> Node:
        self.unset.append(unset_problem(node, path, why))
        return Node(UNSET, node.place)


def unset_problem(node: Node, path: Path, why: str) -> Problem:
    return Problem(where=str(node.place), message=f"'{'.'.join(path)}' {why}")


def absolute(name: str, path: Path) -> Path:
    """The path a reference means: `a.b` from the top, `.a` beside it, `..a` one mapping further up."""
    steps = tuple(STEP.findall(name))
    dots = len(name) - len(name.lstrip("."))
    return (*path[: max(len(path) - dots, 0)], *steps) if dots else steps
