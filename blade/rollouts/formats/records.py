"""Any JSON records: the user names the paths, or they are guessed from the names people use."""

from collections.abc import Sequence
from typing import Any

import msgspec

from blade.rollouts.formats.format import Format

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
    "messages",
    "history",
    "conversation",
    "trajectory",
    "traj",
    "output",
    "completion",
    "response",
    "generation",
    "prediction",
)
INPUT_NAMES = ("input", "prompt", "question", "problem", "instruction")


def with_guessed_output(rows: Sequence[dict[str, Any]]) -> Format:
    """The format with the first likely output and input fields that hold text or items."""
    output = first_filled(rows, OUTPUT_NAMES)
    return msgspec.structs.replace(FORMAT, output=output, input_field=first_filled(rows, INPUT_NAMES))


def first_filled(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str | None:
    return next((n for n in names if any(isinstance(row.get(n), str | list) for row in rows)), None)
