"""What the results file of lm-evaluation-harness says about one task: how its lines are scored and filtered."""

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from blade.rollouts.formats.coercion import content_text, number_or_none, part, text_or_none

INVALID = "[invalid]"
"""What the harness's own extracting filters give when nothing matches, unless a task says otherwise."""
JUDGES_TOGETHER = frozenset({"majority_vote", "custom", "take_first_k"})
"""Filters after which a line is no longer about the first response alone."""
LONGEST = 20_000
"""Characters of a target that is looked into."""


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One task of an evaluation."""

    name: str | None
    """What the harness calls it; `None` when only a renamed file of samples is there."""
    config: dict[str, Any]
    """The task's own configuration; empty when there is no results file."""
    filters: list[str]
    """Names of the filters that were scored; empty when unknown."""
    lower: frozenset[str]
    """Metrics of which less is better."""
    model: str | None
    """Model that answered."""
    settings: dict[str, Any]
    """What the evaluation was made with."""
    fields: dict[str, Any]
    """What the task belongs to."""

    @property
    def output_type(self) -> str | None:
        """What was asked of the model: text, or likelihoods."""
        return text_or_none(self.config.get("output_type"))

    @property
    def delimiter(self) -> str:
        """What joins a question and its answer."""
        given = self.config.get("target_delimiter", " ")
        return given if isinstance(given, str) else " "

    @property
    def has_variants(self) -> bool:
        """Whether the same responses may be scored in several ways."""
        return len(self.filters) != 1

    def key(self, doc_id: Any) -> str:
        """The key of a document, different between tasks."""
        number = content_text(doc_id)
        return f"{self.name}/{number}" if self.name else number

    def scores(self, row: dict[str, Any]) -> tuple[str | None, dict[str, float | None]]:
        """The metric that counts and every metric that is a single number, in the order the task lists them."""
        listed = [name for entry in self.metrics() if isinstance(name := entry.get("metric"), str)]
        stated = row.get("metrics")
        named = [name for name in stated if isinstance(name, str)] if isinstance(stated, list) else list(row)
        names = dict.fromkeys(name for name in (*listed, *named) if name in row and name not in ("doc_id", "target"))
        scores = {name: number_or_none(row[name]) for name in names if isinstance(row[name], bool | int | float)}
        better = [name for name in scores if name not in self.lower]
        return next(iter([*better, *scores]), None), scores

    def metrics(self) -> Iterator[dict[str, Any]]:
        """The entries of the task's list of metrics."""
        listed = self.config.get("metric_list")
        return (entry for entry in (listed if isinstance(listed, list) else ()) if isinstance(entry, dict))

    def steps(self, name: Any) -> list[dict[str, Any]] | None:
        """The functions a filter consists of; `None` when unknown."""
        listed = self.config.get("filter_list")
        if not self.config:
            return None
        for entry in listed if isinstance(listed, list) else ():
            if isinstance(entry, dict) and entry.get("name") == name:
                steps = entry.get("filter")
                return [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else None
        return [{"function": "take_first"}] if name == "none" else None

    def takes_first(self, name: Any) -> bool:
        """Whether a filter's result, and so the score, is about the first of several responses alone."""
        steps = self.steps(name)
        functions = [step.get("function") for step in steps or ()]
        return "take_first" in functions and not JUDGES_TOGETHER & {str(function) for function in functions}

    def is_invalid(self, name: Any, found: str) -> bool:
        """Whether a filter found nothing."""
        given = {step.get("fallback") for step in self.steps(name) or () if isinstance(step.get("fallback"), str)}
        return not found.strip() or found in {INVALID, *given}

    def length(self, metric: str | None, text: str) -> float:
        """What a metric divides the likelihood of a choice by."""
        measured = len(text) if metric == "acc_norm" else len(text.encode()) if metric == "acc_bytes" else 1
        return float(measured or 1)

    def targets(self, row: dict[str, Any]) -> list[str]:
        """The right answers. Several are stored as the text of a list, as an answer may be too; the document tells."""
        target = row.get("target")
        if isinstance(target, list):
            return [content_text(one) for one in target]
        text = content_text(target)
        listed = parsed_list(text)
        requests = row.get("arguments")
        numbered = isinstance(requests, dict | list) and len(requests) > 1  # the numbers of choices
        if listed is None or not (numbered or within(row.get("doc"), listed)):
            return [text]
        return [content_text(one) for one in listed]

    def chosen(self, targets: list[str], doc: Any) -> list[str]:
        """Targets that number the task's choices, as the choices themselves."""
        given = self.config.get("doc_to_choice")
        choices = doc.get(given) if isinstance(given, str) and isinstance(doc, dict) else given
        if not isinstance(choices, list) or not all(text.isdecimal() and len(text) < 9 for text in targets):
            return targets
        places = [int(text) for text in targets]
        return [content_text(choices[at]) for at in places] if max(places, default=0) < len(choices) else targets

    def answers(self, row: dict[str, Any]) -> list[str]:
        """The right answers as they are compared: first without what the task's metric ignores, then as they stand."""
        targets = self.chosen(self.targets(row), row.get("doc"))
        listed = [entry.get("regexes_to_ignore") for entry in self.metrics()]
        patterns = [pattern for given in listed if isinstance(given, list) for pattern in given]
        ignored = [pattern for pattern in patterns if isinstance(pattern, str) and is_cheap(pattern)]
        bare = [without(target, ignored) for target in targets]
        return [text for text in dict.fromkeys([*bare, *targets]) if text.strip()]


def is_cheap(pattern: str) -> bool:
    """Whether an expression from a file cannot take forever: it is short and repeats at most one thing."""
    return len(pattern) <= 100 and sum(map(pattern.count, "*+{")) <= 1


def without(text: str, patterns: list[str]) -> str:
    """A text without the matches of expressions; those that are none are passed over."""
    if len(text) > LONGEST:
        return text
    for pattern in patterns:
        try:
            text = re.sub(pattern, "", text)
        except (re.error, RecursionError, OverflowError):
            continue
    return text


def parsed_list(text: str) -> list[Any] | None:
    """The list whose Python text this is."""
    if not text.startswith("[") or not text.endswith("]") or len(text) > LONGEST:
        return None
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    return value if isinstance(value, list) and value else None


def within(doc: Any, listed: list[Any], depth: int = 2) -> bool:
    """Whether a document holds this list."""
    values = doc.values() if isinstance(doc, dict) else ()
    return any(value == listed or (depth > 1 and within(value, listed, depth - 1)) for value in values)


def describe(name: str | None, summary: dict[str, Any]) -> Task:
    """What a results file says about a task."""
    configs = part(summary, "configs")
    if name not in configs and len(configs) == 1 and name is None:
        name = next(iter(configs))
    config = part(configs, name)
    scored = [key.partition(",")[2] for key in part(part(summary, "results"), name) if "," in key]
    general = part(summary, "config")
    directions = part(part(summary, "higher_is_better"), name)
    chat = summary.get("chat_template")
    settings = {
        "num_fewshot": part(summary, "n-shot").get(name or "", config.get("num_fewshot")),
        "task_version": text_or_none(part(summary, "versions").get(name or "")),
        "output_type": config.get("output_type"),
        "limit": general.get("limit"),
        "seed": general.get("random_seed"),
        "gen_kwargs": general.get("gen_kwargs") or None,
        "chat_template": None if chat is None else bool(chat),
        "system_instruction": summary.get("system_instruction"),
        "lm_eval_version": summary.get("lm_eval_version"),
    }
    return Task(
        name=name,
        config=config,
        filters=list(dict.fromkeys(scored)),
        lower=frozenset(metric for metric, better in directions.items() if better is False),
        model=model_of(summary, general),
        settings=settings,
        fields={key: value for key, value in (("task_name", name), ("group", group_of(summary, name))) if value},
    )


def model_of(summary: dict[str, Any], general: dict[str, Any]) -> str | None:
    """The model's name. Without arguments the harness makes up a random one, so its kind of model says more."""
    named = text_or_none(summary.get("model_name")) if general.get("model_args") else None
    return named or text_or_none(general.get("model")) or text_or_none(summary.get("model_source"))


def top_group(summary: dict[str, Any], name: str) -> str:
    """The outermost group a task stands in; the task itself when it stands in none."""
    seen = {name}
    while (group := group_of(summary, name)) is not None and group not in seen:
        name = group
        seen.add(name)
    return name


def group_of(summary: dict[str, Any], name: str | None) -> str | None:
    """The group a task stands in directly."""
    groups = part(summary, "group_subtasks")
    return next((str(group) for group, tasks in groups.items() if isinstance(tasks, list) and name in tasks), None)
