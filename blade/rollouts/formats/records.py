"""Any JSON records: the user names the paths, or they are guessed from the names people use."""

from collections.abc import Sequence
from typing import Any

import msgspec

from blade.rollouts.formats.format import Format, bare

FORMAT = Format(
    name="records",
    task_fields=(
        "task_id", "problem_id", "instance_id", "question_id", "example_id", "sample_id", "doc_id", "task_idx",
        "task_index", "task_name", "task", "id", "uuid", "question", "prompt", "input",
    ),
    repeat_fields=("repeat", "trial", "epoch", "attempt", "rollout", "rollout_index", "rollout_id", "run", "seed"),
    reward_fields=(
        "reward", "score", "correct", "is_correct", "passed", "pass", "success", "resolved", "accuracy", "acc",
        "exact_match",
    ),
)  # fmt: skip

OUTPUT_NAMES = (
    "messages", "history", "conversation", "trajectory", "traj", "output", "completion", "response", "generation",
    "prediction",
)  # fmt: skip
ERROR_FIELDS = frozenset({
    "error", "errors", "err", "exception", "errormessage", "errortype", "errorclass", "exceptiontype", "exceptioninfo",
    "traceback",
})  # fmt: skip
"""Names of fields, by their letters, that hold an error where they hold anything."""
INPUT_NAMES = ("input", "prompt", "question", "problem", "instruction")


def with_guessed_output(rows: Sequence[dict[str, Any]]) -> Format:
    """The format with its names as the rows spell them, and the first likely output and input that hold anything."""
    keys = list(dict.fromkeys(key for row in rows for key in row))

    def filled(names: Sequence[str]) -> str | None:
        there = as_spelled(names, keys)
        return next((name for name in there if any(isinstance(row.get(name), str | list) for row in rows)), None)

    return msgspec.structs.replace(
        FORMAT,
        output=filled(OUTPUT_NAMES),
        input_field=filled(INPUT_NAMES),
        task_fields=as_spelled(FORMAT.task_fields, keys),
        repeat_fields=as_spelled(FORMAT.repeat_fields, keys),
        reward_fields=as_spelled(FORMAT.reward_fields, keys),
        texts=tuple(
            key
            for key in keys
            if bare(key) in ERROR_FIELDS and not any(isinstance(row.get(key), dict | list) for row in rows)
        ),
    )


def as_spelled(names: Sequence[str], keys: Sequence[str]) -> tuple[str, ...]:
    """Each name as the rows write it (`task_id` as `Task ID` or `taskId`); as it is where they have none like it."""
    alike = {bare(key): key for key in reversed(keys)}
    return tuple(dict.fromkeys(name if name in keys else alike.get(bare(name), name) for name in names))
