"""NeMo Gym rollout JSONL: a Responses-API request and response, a reward, and whatever the verifier echoes."""

from typing import Any

from blade.rollouts.formats.format import Format

ERROR_TEXTS = (
    "container_stderr", "error_message", "evaluation_error", "judge_error", "judge_generation_error", "verifier_error",
    "_ng_failure_judge_error",
)  # fmt: skip
"""Messages that are kept by their first words, however long."""

FORMAT = Format(
    name="gym",
    prompt="responses_create_params.input",
    output="response.output",
    tools="responses_create_params.tools",
    texts=("response.error", *ERROR_TEXTS),
    scalars=("_ng_task_index", "_ng_rollout_index", "reward", "response.model"),
    skip=("ng_model_call_capture", "ng_agent_observations", "ng_trajectory", "response.object"),
    indices=("_ng_task_index", "_ng_rollout_index"),
    task_fields=("task_id", "problem_id", "instance_id", "task_idx", "task_name", "question_id", "id", "uuid"),
    repeat_fields=("_ng_rollout_index", "_rollout_index", "rollout_index", "repeat", "trial"),
    input_field="responses_create_params.input",
)  # fmt: skip


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a row carries one of the framework's own fields."""
    if "_ng_task_index" in row or isinstance(row.get("responses_create_params"), dict):
        return True
    response = row.get("response")
    return isinstance(response, dict) and "output" in response
