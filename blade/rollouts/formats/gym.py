"""NeMo Gym rollout JSONL: a Responses-API request and response, a reward, and whatever the verifier echoes."""

from typing import Any

import msgspec

from blade.rollouts.formats.calls import listed_calls
from blade.rollouts.formats.format import Format, value_at
from blade.rollouts.values import Expected, TestStatus

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
    return isinstance(response, dict) and isinstance(response.get("output"), list)


EXPECTED_FIELDS = ("expected_answer", "ground_truth", "expected_judgement", "gold_answer", "target")
"""Where servers keep what they judge an answer by; a list of calls there is a list of expected calls."""
ANSWER_FIELDS = ("extracted_answer", "parsed_option", "extracted_judgement", "predicted_answer", "predicted_label")
"""Where servers keep the answer that they judged; null when they found none."""
CALL_FIELDS = ("ground_truth", "expected_answer", "calls", "expected_action", "task.evaluation_criteria.actions")
STATUS_FIELDS = {"base_status": "base", "plus_status": "plus"}
"""Fields that hold the outcome of one named suite of tests: `pass`, or what went wrong."""
SAID_FIELD = "task.evaluation_criteria.communicate_info"
EXPECTING = frozenset({*EXPECTED_FIELDS, *CALL_FIELDS, SAID_FIELD, "task", "expected", "schema", "schema_str"})
TESTING = frozenset({*STATUS_FIELDS, "instruction_id_list", "container_services"})
READ = EXPECTING | TESTING | {
    *ANSWER_FIELDS, "options", "schema_type", "follow_instruction_list", "response", "responses_create_params",
}  # fmt: skip
"""Fields that are looked at below, and those that hold the request and its answer."""


def expected(record: dict[str, Any]) -> Expected | None:
    """What a row's verifier fields say that the task asks for."""
    if record.keys().isdisjoint(EXPECTING):
        return None
    paths = CALL_FIELDS if "task" in record else [path for path in CALL_FIELDS if path in record]
    found = [value for path in paths if isinstance(value := value_at(record, path), dict | list)]
    listed = (listed_calls(value if isinstance(value, list) else [value]) for value in found)
    calls = next((one for one in listed if one is not None), None)
    outputs = value_at(record, SAID_FIELD) if "task" in record or SAID_FIELD in record else None
    said = [str(text) for text in outputs] if isinstance(outputs, list) else None
    answers, schema = expected_answers(record), answer_schema(record)
    if all(part is None for part in (answers, calls, said, schema)):
        return None
    return Expected(answers=answers, calls=calls, outputs=said, answer_schema=schema)


def expected_answers(record: dict[str, Any]) -> list[str] | None:
    """The right answer, or all of several; an option's letter comes with its text."""
    for name in EXPECTED_FIELDS:
        value = record.get(name)
        answers = value if isinstance(value, list) else [None if value == "" else value]
        if answers and all(
            isinstance(answer, str | int | float) and not isinstance(answer, bool) for answer in answers
        ):
            return [text for answer in answers for text in (str(answer), *option_texts(record, str(answer)))]
    whole = record.get("expected")
    return [msgspec.json.encode(whole).decode()] if isinstance(whole, dict) else None


def option_texts(record: dict[str, Any], letter: str) -> list[str]:
    """What a multiple-choice row says under an option's letter."""
    options = record.get("options")
    named = [option for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    return [str(option[letter]) for option in named if letter in option]


def answer_schema(record: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON Schema of the answer; one given as text is made strict, as its server does: nothing optional or more."""
    text = record.get("schema_str")
    if isinstance(text, str) and str(record.get("schema_type", "json")).lower() == "json":
        try:
            schema = msgspec.json.decode(text)
        except (msgspec.MsgspecError, RecursionError):
            return None
        return strict(schema) if isinstance(schema, dict) else None
    schema = record.get("schema")
    return schema if isinstance(schema, dict) and "type" in schema else None


def strict(schema: Any) -> Any:
    if isinstance(schema, list):
        return [strict(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(part) for name, part in schema.items()}
    if isinstance(schema.get("properties"), dict):
        made |= {"required": list(schema["properties"]), "additionalProperties": False}
    return made


def answer(record: dict[str, Any]) -> str | None:
    """The answer the verifier took; `None` when it found none or does not say."""
    values = (record.get(name) for name in ANSWER_FIELDS)
    return next((str(v) for v in values if isinstance(v, str | int | float) and not isinstance(v, bool)), None)


def tests(record: dict[str, Any]) -> dict[str, TestStatus]:
    """Outcomes that servers list by name: instructions, services, suites."""
    if record.keys().isdisjoint(TESTING):
        return {}
    return {**instruction_tests(record), **service_tests(record), **suite_tests(record)}


def instruction_tests(record: dict[str, Any]) -> dict[str, TestStatus]:
    names, followed = record.get("instruction_id_list"), record.get("follow_instruction_list")
    if not isinstance(names, list) or not isinstance(followed, list) or len(names) != len(followed):
        return {}
    pairs = sorted(zip(map(str, names), followed, strict=True), key=lambda pair: not pair[1])
    return {name: "passed" if was else "failed" for name, was in pairs}  # of one listed twice, the failed one stays


def service_tests(record: dict[str, Any]) -> dict[str, TestStatus]:
    services = record.get("container_services")
    named = [s for s in services if isinstance(s, dict) and "service" in s] if isinstance(services, list) else []
    return {str(s["service"]): "passed" if s.get("exit_code") == 0 else "failed" for s in named}


def suite_tests(record: dict[str, Any]) -> dict[str, TestStatus]:
    named = {name: record.get(field) for field, name in STATUS_FIELDS.items() if isinstance(record.get(field), str)}
    return {name: "passed" if status == "pass" else "failed" for name, status in named.items()}
