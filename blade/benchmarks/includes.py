"""`config_paths`: which files a config is made of, and in which order they are laid over each other.

A config overrides what it includes; of files included together, a later one and its own includes override an earlier
one and its own. A file is included once, by whoever named it first, counted level by level from the top: that also
ends every circle. Files are looked for under the root, and what begins with `blade/` also beside the installed package.
"""

import difflib
import os
from pathlib import Path
from typing import NamedTuple

from blade.benchmarks.nodes import ConfigError, Node, Place, make_map, read_nodes
from blade.errors import Problem

CONFIG_PATHS = "config_paths"
MAX_FILES = 1000
PACKAGE = "blade"
BESIDE_PACKAGE = Path(__file__).resolve().parents[2]


class Root:
    """A checkout: what paths in its configs are relative to. Every file is read once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.read: dict[Path, Node | ConfigError] = {}

    def shown(self, path: Path) -> str:
        """How messages name a file."""
        return path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.as_posix()

    def locate(self, entry: str, place: Place) -> Path:
        """Where a path written in a config leads; the file need not exist, but must not be outside."""
        folder = self.folder
        if Path(entry).parts[:1] == (PACKAGE,) and not (folder / entry).exists():
            folder = BESIDE_PACKAGE
        path = Path(os.path.normpath(folder / entry))
        if not path.is_relative_to(folder):
            raise ConfigError(f"{place}: '{entry}' leads out of the root {self.folder}; paths are relative to it.")
        return path

    def document(self, path: Path) -> Node:
        """The content of a YAML file, whatever it holds."""
        if path not in self.read:
            try:
                self.read[path] = read_nodes(path, name=self.shown(path))
            except ConfigError as error:
                self.read[path] = error
        found = self.read[path]
        if isinstance(found, ConfigError):
            raise found
        return found

    def config(self, path: Path) -> Node:
        """The content of a config file, which is a mapping."""
        node = self.document(path)
        if node.value is None:
            return Node({}, node.place)
        if not node.is_map:
            raise ConfigError(f"{node.place}: a config is a mapping of names to settings, not {kind(node)}.")
        return node


class Layer(NamedTuple):
    """One file of a config, and the places in the list of layers of those it brought in."""

    path: Path
    includes: list[int]


class Layers(NamedTuple):
    """The files of a config in the order they are merged, and what is wrong with their includes."""

    paths: list[Path]
    problems: list[Problem]


def find_layers(root: Root, path: Path) -> Layers:
    """Every file a config is made of; a file that cannot be included is a problem and left out."""
    layers = [Layer(path, [])]
    problems: list[Problem] = []
    seen = {path.resolve()}
    for layer in layers:  # grows as it goes, so that whoever names a file first includes it
        for entry in entries(root.config(layer.path), problems):
            found = included(root, entry, problems)
            if found is None or found.resolve() in seen:
                continue
            if len(layers) >= MAX_FILES:
                raise ConfigError(f"{entry.place}: more than {MAX_FILES} files are included.")
            seen.add(found.resolve())
            layer.includes.append(len(layers))
            layers.append(Layer(found, []))
    return Layers([layers[index].path for index in post_order(layers)], problems)


def post_order(layers: list[Layer]) -> list[int]:
    """Layers such that each follows what it included."""
    order: list[int] = []
    waiting = [(0, False)]
    while waiting:
        index, is_done = waiting.pop()
        if is_done:
            order.append(index)
        else:
            waiting += [(index, True), *((child, False) for child in reversed(layers[index].includes))]
    return order


def entries(document: Node, problems: list[Problem]) -> list[Node]:
    """The include list of a file."""
    listed = document.get(CONFIG_PATHS)
    if listed is None or listed.value is None:
        return []
    texts = [node for node in listed.value if isinstance(node.value, str)] if isinstance(listed.value, list) else []
    if not isinstance(listed.value, list) or len(texts) < len(listed.value):
        problems.append(
            Problem(where=str(listed.place), message=f"{CONFIG_PATHS} is {kind(listed)}, not a list of paths")
        )
    return texts


def included(root: Root, entry: Node, problems: list[Problem]) -> Path | None:
    """The file an entry names, if it can be read; else a problem at the line that names it."""
    try:
        path = root.locate(entry.value, entry.place)
        if not path.is_file():
            close = difflib.get_close_matches(entry.value, neighbours(root, path), n=1, cutoff=0.8)
            hint = f"did you mean '{close[0]}'?" if close else "write the file or take the entry out"
            problems.append(
                Problem(where=str(entry.place), message=f"includes '{entry.value}', which does not exist", hint=hint)
            )
            return None
        if not any(path.resolve().is_relative_to(place) for place in (root.folder, BESIDE_PACKAGE)):
            raise ConfigError(
                f"{entry.place}: '{entry.value}' leads out of the root {root.folder}; paths are relative to it."
            )
        root.config(path)
    except ConfigError as error:
        where, _, message = str(error).partition(": ")
        problems.append(Problem(where=where, message=message.rstrip(".")))
        return None
    return path


def neighbours(root: Root, path: Path) -> list[str]:
    """Configs that stand where a missing one was looked for."""
    return [root.shown(found) for found in path.parent.glob("*.yaml")] if path.parent.is_dir() else []


def merge(base: Node | None, over: Node) -> Node:
    """One value laid over another: mappings merge key by key, anything else replaces; `???` gives way to a value."""
    if base is None:
        return over
    if over.value == UNSET:
        return base
    if not (base.is_map and over.is_map):
        return over
    values = dict(base.value)
    for key, child in over.value.items():
        values[key] = merge(values.get(key), child)
    return make_map(values, over.place)


def merge_layers(root: Root, paths: list[Path]) -> Node:
    """The files laid over each other, their include lists left out."""
    result: Node | None = None
    for path in paths:
        document = root.config(path)
        own = make_map({key: node for key, node in document.value.items() if key != CONFIG_PATHS}, document.place)
        result = merge(result, own)
    assert result is not None
    return result


def kind(node: Node) -> str:
    """What a value is, in words."""
    if node.value is None:
        return "empty"
    names = {dict: "a mapping", list: "a list", bool: "a flag", str: "a text"}
    return names.get(type(node.value), "a number")


UNSET = "???"
"""A value somebody else must give."""
