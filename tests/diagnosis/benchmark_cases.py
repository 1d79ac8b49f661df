"""Cases for the packs of our own benchmarks: rows as their real verifiers write them, for answers made up here."""

import functools
import json
from pathlib import Path
from typing import Any

from pack_cases import Case
from rollout_rows import Row, call, message, result, rollout

from blade.environments import load_environment

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ENVIRONMENTS = {
    "word_math": "numeric",
    "trap_questions": "choice",
    "careful_instructions": "constraints",
    "fact_forms": "json_facts",
    "office_desk": "office",
}


@functools.cache
def tasks_of(benchmark: str) -> dict[str, Row]:
    """The tasks of a benchmark by what follows the number in their ids: `wm01-stickers` is `stickers`."""
    lines = (BENCHMARKS / benchmark / "data" / f"{benchmark}.jsonl").read_text(encoding="utf-8").splitlines()
    tasks = [json.loads(line) for line in reversed(lines)]
    return {task["task_id"].partition("-")[2]: task for task in tasks}


def judged(benchmark: str, task: str, text: str, *before: Row, cut_off: bool = False, **changed: Any) -> Row:
    """A row as a run writes it, for a text and what came before it; the task may be changed."""
    given = {**tasks_of(benchmark)[task], **changed}
    output = [*before, *([message(text)] if text else [])]
    verdict = load_environment(ENVIRONMENTS[benchmark]).verify(given, output)
    response = {"incomplete_details": {"reason": "max_output_tokens"}} if cut_off else {}
    return {**given, **rollout(0, 0, verdict.reward, output=output, response=response), **verdict.fields}


def word(text: str, **changed: Any) -> Row:
    """An answer to: Kofi has 4 stickers and buys 3 more. The expected answer is 7, and 12 is `multiplied`."""
    return judged("word_math", "stickers", text, **changed)


WORD_MATH = [
    Case("no_reference_answer", word("Answer: 5", expected_answer=""), word("Answer: 5")),
    Case("empty_answer", word(""), word("I do not know.")),
    Case("cut_off_before_answer", word("First, 4 and", cut_off=True), word("Answer: 5, because 4", cut_off=True)),
    Case("no_number", word("Some stickers."), word("5 stickers.")),
    Case("answer_not_marked", word("4 and 5 make it."), word("Answer: 5")),
    Case("known_slip", word("4 * 3 = 12.\nAnswer: 12"), word("4 + 3 = 8.\nAnswer: 8")),
    Case("wrong_number", word("4 + 3 = 8.\nAnswer: 8"), word("Some stickers.")),
]


def trap(text: str, **changed: Any) -> Row:
    """An answer to the lamp and the bulb: C (1 dollar) is right, D (2 dollars) is the lure."""
    return judged("trap_questions", "bulb", text, **changed)


TRAP_QUESTIONS = [
    Case("no_reference_answer", trap("Answer: A", expected_answer=""), trap("Answer: A")),
    Case("empty_answer", trap(""), trap("Hard to say.")),
    Case("cut_off_before_answer", trap("The lamp and", cut_off=True), trap("Answer: A, because", cut_off=True)),
    Case("no_option", trap("It is cheap."), trap("Answer: A")),
    Case("took_the_lure", trap("22 - 20 = 2.\nAnswer: D"), trap("Answer: A")),
    Case("other_wrong_option", trap("Answer: A"), trap("It is cheap.")),
]


def careful(task: str, text: str, **changed: Any) -> Row:
    return judged("careful_instructions", task, text, **changed)


def grass(text: str, **changed: Any) -> Row:
    """An answer to: What colour is grass? Answer with exactly one word."""
    return careful("grass", text, **changed)


def asked_for(instruction: str, text: str, **arguments: Any) -> Row:
    return grass(text, instruction_id_list=[instruction], kwargs=[arguments])


RISKY = {
    "must_answer": True,
    "looks_like": "violence",
    "instruction_id_list": ["keywords:any_of"],
    "kwargs": [{"keywords": ["pkill"]}],
}
CAREFUL_INSTRUCTIONS = [
    Case(
        "no_instruction",
        {**grass("Green it is"), "instruction_id_list": [], "follow_instruction_list": []},
        grass("Green it is"),
    ),
    Case("empty_answer", grass(""), grass("Green it is")),
    Case("cut_off", grass("Green it", cut_off=True), grass("Green it")),
    Case(
        "refused_harmless_request",
        grass("I'm sorry, but I can't help with killing.", **RISKY),
        grass("Wait for it to end.", **RISKY),
    ),
    Case("answered_beside_the_point", grass("Wait for it to end.", **RISKY), grass("Green it is")),
    Case("declined_instructions", grass("I can't help with that."), grass("It is green")),
    Case("only_wrapping", grass("Sure, here it is:\nGreen"), grass("Green it is")),
    Case("length_missed", grass("Green it is"), asked_for("keywords:existence", "Green", keywords=["bee"])),
    Case("wording_missed", asked_for("keywords:existence", "Green", keywords=["bee"]), grass("Green it is")),
    Case("layout_missed", asked_for("change_case:english_lowercase", "Green"), grass("Green it is")),
    Case(
        "instruction_missed",
        {**grass("Green it is"), "instruction_id_list": ["new:kind"]},
        {**grass("Green it is"), "follow_instruction_list": []},
    ),
]


def form(text: str, **changed: Any) -> Row:
    """An answer to: Olive is our cat. Last week Olive turned 4."""
    return judged("fact_forms", "pet", text, **changed)


def talks(*starts: str) -> Row:
    """A list of talks of which the first is right, and as many more as are given."""
    expected = tasks_of("fact_forms")["talks"]["expected"]["talks"]
    given = [{**expected[0], "start": start} for start in starts]
    return judged("fact_forms", "talks", json.dumps({"talks": given}))


GOOD = '{"age": 4, "animal": "cat", "name": "Olive"}'
FACT_FORMS = [
    Case("empty_answer", form(""), form("A cat.")),
    Case("cut_off_before_json", form('{"age": 4, "ani', cut_off=True), form('{"age": 5}', cut_off=True)),
    Case("no_json", form("Olive is a cat."), form('{"age": 5}')),
    Case("only_the_schema", form(GOOD.replace("}", ', "fur": 1}')), form('{"age": 5, "fur": 1}')),
    Case("schema_and_facts", form('{"age": "five", "animal": "dog", "name": "Olive"}'), form(GOOD.replace("4", "5"))),
    Case("list_length_wrong", talks("10:30"), talks("10:30", "10:30", "10:30")),
    Case("most_facts_wrong", form('{"age": 5, "animal": "dog", "name": "Olive"}'), form(GOOD.replace("4", "5"))),
    Case("some_facts_wrong", form(GOOD.replace("4", "5")), form(GOOD.replace("4", '"4"'))),
]


def function(*codes: int, text: str = "def shout(text): ...", cut_off: bool = False, **metadata: Any) -> Row:
    """A row as the verifier of small_functions writes it; nothing is run here, its own tests do that."""
    code = text if text.startswith(("def", "import")) else None
    response = {"incomplete_details": {"reason": "max_output_tokens"}} if cut_off else {}
    fields: Row = {
        "extracted_model_code": code,
        "result": list(codes),
        "tests_passed": codes.count(1),
        "tests_total": 4,
        "metadata": metadata,
    }
    output = [message(text)] if text else []
    return {**tasks_of("small_functions")["shout"], **rollout(0, 0, 0.0, output=output, response=response), **fields}


def raising(error: str, message: str = "Runtime error", **more: Any) -> Row:
    return function(-4, error=error, error_code=-4, error_message=message, **more)


def not_loading(error: str, **more: Any) -> Row:
    return raising(error, "Error during testing: code does not load", **more)


WRONG: Row = {"error_code": -2, "error_message": "Wrong answer", "inputs": '("hello",)', "expected": "'HELLO!'"}
SMALL_FUNCTIONS = [
    Case("empty_answer", function(text=""), function(text="I cannot.")),
    Case("no_code", function(text="I cannot."), function(-2, **WRONG, output="1")),
    Case("cut_off_in_code", not_loading("SyntaxError: x", cut_off=True), function(-2, cut_off=True, **WRONG)),
    Case(
        "other_function", not_loading("ImportError: the code defines no function shout"), not_loading("SyntaxError: x")
    ),
    Case(
        "module_not_there",
        not_loading("ModuleNotFoundError: No module named 'email'"),
        raising("OSError: No module named 'email'"),
    ),
    Case("name_not_defined", raising("NameError: name 'bisect' is not defined"), raising("KeyError: 'bisect'")),
    Case("does_not_load", not_loading("SyntaxError: x"), raising("SyntaxError: x")),
    Case(
        "time_limit",
        function(-3, error="time_limit", error_code=-3, error_message="Time limit exceeded"),
        raising("MemoryError"),
    ),
    Case("returns_nothing", function(-2, -2, **WRONG, output="None"), function(-2, -2, **WRONG, output="'None'")),
    Case("some_cases_wrong", function(1, -2, 1, 1, **WRONG, output="1"), function(-2, -2, **WRONG, output="1")),
    Case("raises_error", raising("KeyError: 1"), function(-2, -2, **WRONG, output="1")),
    Case("every_case_wrong", function(-2, -2, **WRONG, output="1"), raising("KeyError: 1")),
]


def used(tool: str, /, answer: str = '{"ok": true}', **arguments: Any) -> list[Row]:
    """A tool call and what the tool answered."""
    return [call(tool, json.dumps(arguments)), result(answer)]


def desk(task: str, text: str, *calls: list[Row], cut_off: bool = False) -> Row:
    return judged("office_desk", task, text, *[item for one in calls for item in one], cut_off=cut_off)


LOOK = used("find_records", customer="Alder Ltd")
WRONG_ORDER = used("update_record", record_id="r9", field="status", value="shipped", answer='{"error": "no order r9"}')
CLOSED = used("update_record", record_id="r2", field="status", value="closed")
OTHER_MAIL = used("send_mail", to="dina@office.example", subject="Keys", body="Keys.")
OTHER_TIME = used("move_event", event_id="e5", date="2025-03-13", start="15:00")
OFFICE_DESK = [
    Case("no_output", desk("shipped", ""), desk("shipped", "Done.")),
    Case("no_tool_called", desk("shipped", "Done."), desk("shipped", "Done.", LOOK)),
    Case("repeated_call", desk("shipped", "Done.", LOOK, LOOK, LOOK), desk("shipped", "Done.", LOOK, CLOSED)),
    Case("cut_off", desk("shipped", "I will", LOOK, cut_off=True), desk("shipped", "Done.", LOOK)),
    Case(
        "changed_without_need",
        desk("phone", "It is 555.", used("delete_mail", mail_id="m1")),
        desk("phone", "It is 555.", used("find_contact", name="Dina Doyle")),
    ),
    Case(
        "wrong_answer",
        desk("phone", "It is 555.", used("find_contact", name="Dina Doyle")),
        desk("shipped", "Done.", LOOK, CLOSED),
    ),
    Case(
        "every_call_refused", desk("shipped", "Done.", LOOK, WRONG_ORDER), desk("shipped", "Done.", WRONG_ORDER, LOOK)
    ),
    Case("nothing_changed", desk("shipped", "Done.", LOOK), desk("shipped", "Done.", LOOK, CLOSED)),
    Case("asked_back", desk("shipped", "Which order?", CLOSED), desk("shipped", "Which order.", CLOSED)),
    Case("mails_differ", desk("write-to", "Done.", OTHER_MAIL), desk("shipped", "Done.", CLOSED)),
    Case("events_differ", desk("move", "Done.", OTHER_TIME), desk("write-to", "Done.", OTHER_MAIL)),
    Case("records_differ", desk("shipped", "Done.", CLOSED), desk("write-to", "Done.", OTHER_MAIL)),
]

BENCHMARK_CASES: dict[str, list[Case]] = {
    "careful-instructions": CAREFUL_INSTRUCTIONS,
    "fact-forms": FACT_FORMS,
    "office-desk": OFFICE_DESK,
    "small-functions": SMALL_FUNCTIONS,
    "trap-questions": TRAP_QUESTIONS,
    "word-math": WORD_MATH,
}
