"""Rules about what a skill tells an agent: how long it is, and where its links lead.

An agent reads the whole body once it opens the skill, and a further file only when told to. So the body is short, every
further file is one step away, and every link says when to take that step.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

from blade.errors import Problem
from blade.skillkit.markdown import Prose, blocks, code_spans, local_links

MAX_LINES = 500
MAX_TOKENS = 5000
CHARACTERS_PER_TOKEN = 4
"""About what tokenizers make of English prose and code."""
REFERENCES = "references"
WHEN = re.compile(r"\b(?:when|whenever|if|before|after|once|unless|while|until)\b", re.IGNORECASE)
OWN_FILE = re.compile(r"(?:references|scripts|assets)/[\w./-]*\w")
"""A file of the skill, named as code."""


def size_problems(body: str, line: int) -> Iterator[Problem]:
    """A body that is empty, or longer than an agent should have to read."""
    if not body.strip():
        yield Problem(where=str(line), message="has no instructions", hint="say what to do, step by step")
    lines, tokens = len(body.splitlines()), len(body) // CHARACTERS_PER_TOKEN
    if lines > MAX_LINES:
        said = f"the body has {lines} lines, expected at most {MAX_LINES}"
        yield Problem(where=str(line), message=said, hint="move details to references/")
    if tokens > MAX_TOKENS:
        said = f"the body has about {tokens} tokens, expected at most {MAX_TOKENS}"
        yield Problem(where=str(line), message=said, hint="move details to references/")


def link_problems(folder: Path, text: str, line: int = 1) -> Iterator[Problem]:
    """Links and named files that are not there, lie outside of the skill, or do not say when to open them."""
    for block in prose(text, line):
        links = local_links(block.text)
        named = [span for span in code_spans(block.text) if OWN_FILE.fullmatch(span)]
        for target in dict.fromkeys([*links, *named]):
            yield from target_problems(folder, target, block.line)
        refers = any(PurePosixPath(link).parts[:1] == (REFERENCES,) for link in links)
        if refers and not WHEN.search(block.text):
            said = "links a reference without saying when to open it"
            yield Problem(where=str(block.line), message=said, hint="add 'when ...' or 'before ...' to the sentence")


def target_problems(folder: Path, target: str, line: int) -> Iterator[Problem]:
    where = str(line)
    if ".." in PurePosixPath(target).parts or target.startswith("/"):
        said = f"{target!r} leads out of the skill"
        yield Problem(where=where, message=said, hint="a skill is copied away alone; bring the file into its folder")
    elif not (folder / target).exists():
        yield Problem(where=where, message=f"{target!r} is not there", hint="write it, or drop the link")


def reference_problems(folder: Path, body: str) -> Iterator[Problem]:
    """References that are nested, or that nothing in SKILL.md leads to."""
    linked = {link for block in prose(body) for link in local_links(block.text)}
    for path in files_below(folder / REFERENCES):
        name = path.relative_to(folder).as_posix()
        if path.parent != folder / REFERENCES:
            hint = "an agent follows one step only; move it up"
            yield Problem(where=name, message="lies deeper than references/", hint=hint)
        elif name not in linked:
            yield Problem(where=name, message="is not linked from SKILL.md", hint="link it and say when to open it")


def prose(text: str, line: int = 1) -> Iterable[Prose]:
    return (block for block in blocks(text, line) if isinstance(block, Prose))


def files_below(folder: Path) -> list[Path]:
    """The files of a folder and its folders, hidden ones and Python's caches left out."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if not is_hidden(path.relative_to(folder)))


def is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.parts)
