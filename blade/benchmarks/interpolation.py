"""`${a.b}` and `???`: values that stand elsewhere in the config, and values nobody has given yet.

What cannot be filled in stays `???` and is listed with its place: whether that matters depends on who asks. The
environment is not read, since a config may come from a stranger: `${oc.env:NAME,default}` gives its default.
`${oc.select:path,default}` gives what stands at the path, or its default.
"""

import re
from typing import Any

from blade.benchmarks.includes import UNSET
from blade.benchmarks.nodes import MAX_DEPTH, MAX_VALUES, ConfigError, Node, make_list, make_map, parse_nodes, plain
from blade.errors import Problem

INNERMOST = re.compile(r"(?<!\\)\$\{([^${}]*)\}")
STEP = re.compile(r"[^.\[\]]+")
ENVIRONMENT, SELECT = "oc.env", "oc.select"

Path = tuple[str, ...]


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
