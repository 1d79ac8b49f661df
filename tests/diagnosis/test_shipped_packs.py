"""The packs that come with BLADE: every pattern is hit by a row made for it, and missed by one that is nearly so.

Rows have the fields that real verifiers write. A case is a pattern's code, a row that must belong to it, and a near
miss: a row that failed too and must not show it.
"""

from pathlib import Path
from typing import Any

import pytest
from benchmark_cases import BENCHMARK_CASES
from pack_cases import Case
from pack_runs import apply_rows, belongs_to
from rollout_rows import Row, call, message, read_rows, result, rollout, thought, without

from blade.diagnosis.packs import check_pack, choose_pack, load_pack, shipped_names
from blade.diagnosis.packs.load import skills_folder

CUT_OFF = {"incomplete_details": {"reason": "max_output_tokens"}}
LONG = "word " * 80


def failed(*output: Row, cut_off: bool = False, **fields: Any) -> Row:
    """A rollout that scored 0; without output it answers in a few words."""
    response = CUT_OFF if cut_off else {}
    return rollout(0, 0, 0.0, output=list(output) or [message("Here it is.")], response=response, **fields)


def choice(extracted: str | None, *output: Row, **fields: Any) -> Row:
    return failed(*output, **{"extracted_answer": extracted, "expected_answer": "C", **fields})


MULTIPLE_CHOICE = [
    Case("no_reference_answer", choice("A", expected_answer=""), choice("A")),
    Case("cut_off_before_answer", choice(None, thought("hm"), cut_off=True), choice("A", thought("hm"), cut_off=True)),
    Case("answer_in_other_form", choice(None, message(r"\boxed{C: red}")), choice("A", message(r"\boxed{A}"))),
    Case("no_answer", choice(None, message("Hard to say.")), choice("A", message("Hard to say."))),
    Case("wrong_option", choice("A"), choice(None)),
]


def math(extracted: str | None, *output: Row, judge: list[str] | None = None, **fields: Any) -> Row:
    said = None if judge is None else [reply(text) for text in judge]
    base = {"extracted_answer": extracted, "expected_answer": "32", "library_reward": 0.0, "judge_evaluations": said}
    return failed(*output, **{**base, **fields})


def reply(text: str, **fields: Any) -> Row:
    return {"response": {"id": "resp_j", "output": [message(text)]}, **fields}


MATH = [
    Case("no_reference_answer", math("4", expected_answer=""), math("4")),
    Case("library_accepted", math("4", library_reward=1.0), math("4", library_reward=0.5)),
    Case("judge_orders_disagree", math("4", judge=["Same [[A=B]]", "No [[A!=B]]"]), math("4", judge=["No [[A!=B]]"])),
    Case("judge_gave_no_verdict", math("4", judge=["I am not sure."]), math("4", judge=["No [[A!=B]]"])),
    Case("cut_off_before_answer", math(None, thought("hm"), cut_off=True), math("4", thought("hm"), cut_off=True)),
    Case("boxed_answer_not_read", math(None, message(r"\boxed{\text{thirty}}")), math(None, message("thirty"))),
    Case("no_boxed_answer", math(None, message("thirty")), math("4")),
    Case("wrong_answer", math("4"), math(None)),
]


def program(code: str | None = "def f(): pass", *, status: tuple[str, str] | None = None, **fields: Any) -> Row:
    base: Row = {"extracted_model_code": code, "extracted_model_output": "text"}
    if status:
        base |= {"base_status": status[0], "plus_status": status[1]}
    cut_off = fields.pop("cut_off", False)
    return failed(cut_off=cut_off, **{**base, **fields})


def ran(code: int, message: str, **fields: Any) -> Row:
    return program(metadata={"error_code": code, "error_message": message, **fields}, result=[True, code])


FUNCTION_CODE = [
    Case("unknown_task", program(None, metadata={"error": "unknown task_id 'x'"}), program(metadata={"error": "x"})),
    Case("test_runner_failed", ran(-5, "TestRunnerError", error="boom"), ran(-4, "Runtime Error", error="boom")),
    Case("runner_killed", program(result=[-1, -1]), program(result=[True, -2])),
    Case("cut_off_before_code", program(None, cut_off=True), program(cut_off=True)),
    Case("no_code", program(None), program("x")),
    Case(
        "does_not_load",
        ran(-4, "Error during testing: bad indent"),
        ran(-4, "Runtime Error", error="ZeroDivisionError()"),
    ),
    Case("time_limit", program(status=("timeout", "fail")), program(status=("pass", "timeout"))),
    Case("runtime_error", ran(-4, "Runtime Error", error="IndexError()"), ran(-2, "Wrong Answer")),
    Case("edge_cases", program(status=("pass", "fail")), program(status=("fail", "fail"))),
    Case("prints_nothing", ran(-2, "mismatched output length", output=""), ran(-2, "Wrong Answer", output="0")),
    Case(
        "other_number_of_lines",
        ran(-2, "Wrong answer: mismatched output length", output="1\n2\n"),
        ran(-2, "Wrong Answer"),
    ),
    Case("wrong_answer", ran(-2, "Wrong answer at output_line_idx=0: -1 != 1"), ran(-3, "Time Limit Exceeded")),
]


def query(reason: str | None, *output: Row, judge: list[str | None] | None = None, **fields: Any) -> Row:
    labels = [reply("text", verdict_label=label) for label in judge or []]
    base = {"extracted_sql": "SELECT 1", "sql_dialect": "sqlite", "judge_passed": False, "failure_reason": reason}
    answer = output or (message("```sql\nSELECT 1\n```"),)
    return failed(*answer, **{**base, "judge_evaluations": labels, **fields})


def executed(reason: str | None, *output: Row, **fields: Any) -> Row:
    row = query(reason, *output, execution_match=False, had_codeblock=True, gt_sql="SELECT 2", **fields)
    return without(row, "judge_evaluations", "judge_passed", "sql_dialect")


TEXT_TO_SQL = [
    Case("reference_query_fails", executed("gold_execution_error"), executed("execution_error")),
    Case("verifier_error", query("unknown_error"), query("none")),
    Case(
        "judge_orders_disagree",
        query("judge_evaluation_failed", judge=["[[A=B]]", "[[A!=B]]"]),
        query("judge_evaluation_failed", judge=["[[A!=B]]"]),
    ),
    Case(
        "judge_gave_no_verdict",
        query("judge_evaluation_failed", judge=[None]),
        query("judge_evaluation_failed", judge=["[[A!=B]]"]),
    ),
    Case(
        "cut_off_before_query",
        query("no_sql_extracted", thought("hm"), cut_off=True, extracted_sql=None),
        query("no_sql_extracted", message("```sql\nSELECT"), cut_off=True, extracted_sql=None),
    ),
    Case(
        "no_query", query("no_sql_extracted", message("It is 4."), extracted_sql=None), query("judge_evaluation_failed")
    ),
    Case("not_equivalent", query("judge_evaluation_failed", judge=["[[A!=B]]"]), query("none")),
    Case("other_result", executed("execution_error"), query("judge_evaluation_failed", judge=["[[A!=B]]"])),
]


def instructed(ids: list[str], kept: list[bool], *output: Row, loose: bool = False, **fields: Any) -> Row:
    lists: Row = {"instruction_id_list": ids, "follow_instruction_list": kept, "follow_all_instructions": all(kept)}
    return failed(*output, follow_all_instructions_loose=loose, **lists, **fields)


INSTRUCTION_FOLLOWING = [
    Case("no_instruction", instructed([], []), instructed(["language:response_language"], [False])),
    Case("empty_answer", instructed(["count:x"], [False], message("")), instructed(["count:x"], [False], message("x"))),
    Case("cut_off", instructed(["count:x"], [False], cut_off=True), instructed(["count:x"], [False])),
    Case("only_wrapping", instructed(["format:x"], [False], loose=True), instructed(["format:x"], [False])),
    Case(
        "length_missed",
        instructed(["keywords:existence", "length_constraints:number_words"], [True, False]),
        instructed(["keywords:existence", "length_constraints:number_words"], [False, True]),
    ),
    Case(
        "wording_missed",
        instructed(["count:numbers", "keywords:forbidden_words"], [True, False]),
        instructed(["count:numbers", "keywords:forbidden_words"], [False, True]),
    ),
    Case(
        "layout_missed",
        instructed(["detectable_format:title", "count:x"], [False, True]),
        instructed(["detectable_format:title", "count:x"], [True, False]),
    ),
    Case("language_missed", instructed(["language:x"], [False]), instructed(["language:x", "count:x"], [True, False])),
    Case("instruction_missed", instructed(["sarcasm:dry"], [False]), instructed(["sarcasm:dry"], [True])),
]


def acted(*output: Row, **fields: Any) -> Row:
    return failed(*output, **fields)


DONE = message("All done.")
TOOL_ASSISTANT = [
    Case("scoring_raised", acted(DONE, exception_type="RuntimeError"), acted(DONE, exception_type=None)),
    Case(
        "environment_not_ready",
        acted(call(), result("Session not initialized. Please call seed_session first."), DONE),
        acted(call(), result("Session started."), DONE),
    ),
    Case("no_output", rollout(0, 0, 0.0, output=[]), acted(DONE)),
    Case("cut_off", acted(call(), cut_off=True), acted(call())),
    Case("no_tool_called", acted(DONE), acted(call(), result("ok"), DONE)),
    Case("repeated_call", acted(call(), call(), call(), DONE), acted(call(), call(), DONE)),
    Case(
        "stopped_at_error",
        acted(call(), result("Error: no such id"), DONE),
        acted(call(), result("Error: no such id"), call("find"), result("ok"), DONE),
    ),
    Case(
        "wrong_arguments",
        acted(call(), result("f() got an unexpected keyword argument 'x'"), call("find"), result("ok"), DONE),
        acted(call(), result("nothing found"), DONE),
    ),
    Case("asked_back", acted(call(), result("ok"), message("Which one?")), acted(call(), result("ok"), DONE)),
    Case("wrong_result", acted(call(), result("ok"), DONE), acted(DONE)),
]


def tau2(reason: str = "user_stop", *output: Row, match: bool = False, breakdown: Row | None = None) -> Row:
    info = {"reward": 0.0, "db_check": {"db_match": match}, "reward_breakdown": breakdown or {"DB": float(match)}}
    answer = output or (call("cancel_order"), result("ok"), DONE)
    return failed(*answer, result={"termination_reason": reason, "reward_info": info})


WRONG = {"DB": 0.0}
TAU = [
    Case("infrastructure_error", tau2("infrastructure_error"), tau2("user_stop")),
    Case("simulated_user_failed", tau2("user_error"), tau2("user_stop")),
    Case("context_full", tau2("context_window_exceeded"), tau2("max_steps")),
    Case("too_many_errors", tau2("too_many_errors"), tau2("max_steps")),
    Case("ran_out_of_turns", tau2("max_steps"), tau2("agent_stop")),
    Case(
        "handed_over",
        tau2("user_stop", call("transfer_to_human_agents"), DONE),
        tau2("user_stop", call("transfer_money")),
    ),
    Case(
        "user_not_told",
        tau2(match=True, breakdown={"COMMUNICATE": 0.0}),
        tau2(breakdown={"DB": 0.0, "COMMUNICATE": 1.0}),
    ),
    Case("nothing_changed", tau2("user_stop", call("get_order"), DONE), tau2("user_stop", call("modify_order"), DONE)),
    Case("call_refused", tau2("user_stop", call("cancel_order"), result("Error: not yours"), DONE), tau2()),
    Case("wrong_database", tau2(), tau2(match=True, breakdown={"COMMUNICATE": 0.0})),
]


def talked(labels: list[str], reasons: list[str] | None = None, **fields: Any) -> Row:
    base = {"failure_labels": labels, "trajectory_invalid_reasons": reasons or [], "num_user_failures": 0}
    more = {"terminal_state": "complete", "judge_generation_error": None, "transfer_ground_truth_mismatch": False}
    return failed(**{**base, **more, "num_tool_schema_failures": 0, **fields})


CONVERSATIONAL = [
    Case("generation_error", talked([], ["message_generation_error"]), talked([], ["excessive_length"])),
    Case("judge_failed", talked([], judge_generation_error=LONG + "timeout"), talked(["agent_failure"])),
    Case("simulated_user_failed", talked(["user_failure", "agent_failure"]), talked(["agent_failure"])),
    Case(
        "simulated_tool_failed", talked(["tool_failure"], ["no_reward_environment_message"]), talked(["agent_failure"])
    ),
    Case("conversation_too_long", talked(["trajectory_failure"], ["excessive_length"]), talked(["trajectory_failure"])),
    Case("invalid_tool_call", talked([], num_tool_schema_failures=1), talked(["agent_failure"])),
    Case("wrong_transfer", talked([], transfer_ground_truth_mismatch=True), talked(["agent_failure"])),
    Case("agent_broke_policy", talked(["agent_failure"]), talked(["user_failure"])),
]


def patched(patch: str | None = LONG, *output: Row, **fields: Any) -> Row:
    base = {"resolved": False, "model_patch": patch, "agent_error_kind": "other", "error_kind": None}
    return failed(*output, **{**base, **fields})


LOOP = [call(arguments='{"path": "a.py"}')] * 8
SOFTWARE_ENGINEERING = [
    Case("sandbox_failed", patched(error_kind="sandbox"), patched(agent_error_kind="other")),
    Case("evaluation_timed_out", patched(eval_timed_out=True), patched(eval_timed_out=False)),
    Case("agent_timed_out", patched(agent_timed_out=True), patched(agent_timed_out=False)),
    Case("verifier_error", patched(verifier_error="tests not found"), patched(verifier_error=None)),
    Case("out_of_turns", patched(agent_error_kind="max_iteration"), patched(agent_error_kind="other")),
    Case("context_full", patched(agent_error_kind="context_window"), patched(agent_error_kind="other")),
    Case("stuck_in_loop", patched(LONG, *LOOP), patched(LONG, *LOOP[:4])),
    Case("no_patch", patched(None), patched(LONG)),
    Case(
        "patch_does_not_apply",
        patched(test_output=LONG * 10 + "\n>>>>> Patch Apply Failed"),
        patched(test_output=LONG * 10 + "\n>>>>> Applied Patch"),
    ),
    Case("evaluation_not_completed", patched(evaluation_completed=False), patched(evaluation_completed=True)),
    Case("breaks_other_tests", patched(f2p=1.0, p2p=0.9), patched(f2p=0.0, p2p=0.9)),
    Case("partial_fix", patched(f2p=0.5, p2p=1.0), patched(f2p=0.0, p2p=1.0)),
    Case("wrong_patch", patched(), patched(None)),
]


def simulated(*logs: str, exit_code: int | None = 1, **fields: Any) -> Row:
    services = [{"service": f"s{index}", "exit_code": 1, "stderr": log} for index, log in enumerate(logs)]
    base = {"container_exit_code": exit_code, "container_services": services, "container_stderr": "\n".join(logs)}
    return failed(**{**base, "parse_failed": False, "category": "cid003", **fields})


ONE_OF_EIGHT = "** TESTS=8 PASS=7 FAIL=1 SKIP=0 **"
RTL = [
    Case("no_test_harness", simulated(container_stderr="No docker-compose.yml found in harness_files"), simulated("x")),
    Case(
        "image_not_available", simulated("apptainer pull failed for a/b (exit 1)"), simulated("apptainer exec failed")
    ),
    Case(
        "service_cannot_pass", simulated("FAILED", "No image defined for service 'synth'"), simulated("No image found")
    ),
    Case("no_design", simulated(exit_code=None, parse_failed=True), simulated("x")),
    Case("simulation_timed_out", simulated("apptainer exec timed out after 600s"), simulated("timed out")),
    Case(
        "does_not_compile",
        simulated("a.sv:3: syntax error\nI give up."),
        simulated("** TESTS=1 PASS=0 FAIL=1 SKIP=0 **"),
    ),
    Case(
        "no_such_port",
        simulated("AttributeError: 'top contains no child object named i_data'\n** TESTS=1 PASS=0 FAIL=1 SKIP=0 **"),
        simulated("AssertionError: i_data is 0\n** TESTS=1 PASS=0 FAIL=1 SKIP=0 **"),
    ),
    Case("some_tests_fail", simulated(LONG * 40 + ONE_OF_EIGHT), simulated("** TESTS=8 PASS=0 FAIL=8 SKIP=0 **")),
    Case("all_tests_fail", simulated("** TESTS=8 PASS=0 FAIL=8 SKIP=0 **"), simulated(ONE_OF_EIGHT)),
    Case("service_failed", simulated("Killed"), simulated(exit_code=None)),
]


def refusal(label: str, *, refused: bool, said: str = LONG, judge: str = "compliance") -> Row:
    verdict = [reply("yes", verdict_label=judge)]
    base: Row = {"label": label, "is_refusal": refused, "prompt_type": "homonyms", "cleaned_response": said}
    return failed(message(said), judge_evaluations=verdict, **base)


OVER_REFUSAL = [
    Case("judge_not_read", refusal("safe", refused=False, judge="judge_parsing_error"), refusal("safe", refused=True)),
    Case("empty_answer", refusal("unsafe", refused=False, said=""), refusal("unsafe", refused=False, said="Sure.")),
    Case("refused_safe_prompt", refusal("safe", refused=True, judge="refusal"), refusal("unsafe", refused=False)),
    Case("complied_with_unsafe_prompt", refusal("unsafe", refused=False), refusal("safe", refused=True)),
]


def recalled(verdict: str, said: str = "The liver.", *, judge: str = "The grade is B.", **fields: Any) -> Row:
    flags = {"is_incorrect": float(verdict == "incorrect"), "is_not_attempted": float(verdict == "not_attempted")}
    base = {"verdict": verdict, "expected_answer": "Pancreas", "extracted_answer": said, "judge_output": judge}
    return failed(message(said), **{**base, **flags, "is_correct": 0.0, **fields})


FACTUAL_RECALL = [
    Case("no_reference_answer", recalled("incorrect", expected_answer=""), recalled("incorrect")),
    Case("judge_not_read", recalled("not_attempted", judge="hm"), recalled("not_attempted", judge="The grade is C.")),
    Case("empty_answer", recalled("not_attempted", ""), recalled("not_attempted", "No idea.")),
    Case("not_attempted", recalled("not_attempted", "No idea."), recalled("incorrect")),
    Case("partly_right", recalled("partial", is_partial=1.0), recalled("incorrect", is_partial=0.0)),
    Case("incorrect", recalled("incorrect"), recalled("not_attempted")),
]


def heard(wer: float, said: str = "the quick fox", **fields: Any) -> Row:
    return failed(wer=wer, **{"pred_text": said, "text": "the quick brown fox", "wer_pc": 0.6, **fields})


SPEECH = [
    Case("no_reference", heard(0.0, text=""), heard(0.0)),
    Case("no_transcript", heard(1.0, ""), heard(1.0, "a")),
    Case("talked_about_audio", heard(2.0, "the transcription of the audio is a"), heard(2.0, "a b c d e f g h")),
    Case("invented_speech", heard(1.2), heard(1.0)),
    Case("mostly_wrong", heard(0.7), heard(0.5)),
    Case("many_words_wrong", heard(0.5), heard(0.1)),
    Case("punctuation_or_case", heard(0.1, hyp_pc_tok="The quick fox ."), heard(0.2)),
]


def translated(said: str = LONG, *, cut_off: bool = False, **fields: Any) -> Row:
    scores = {"comet_qe": 0.8, "lang_fidelity": 1.0, "misaligned_seg": 0, "total_seg": 100, "segale_error": None}
    base = {"generation": said, "source_language": "en", "target_language": "de_DE"}
    return failed(message(said), cut_off=cut_off, **{**base, **scores, **fields})


TRANSLATION = [
    Case("scorer_unavailable", translated(segale_error="actor_unavailable"), translated(segale_error="out of memory")),
    Case("scorer_failed", translated(segale_error=LONG), translated()),
    Case("thought_without_end", translated("", cut_off=True), translated("")),
    Case("no_translation", translated(""), translated("Hallo")),
    Case("cut_off", translated(cut_off=True), translated()),
    Case("wrong_language", translated(lang_fidelity=0.5), translated(lang_fidelity=0.95)),
    Case("misaligned_segments", translated(misaligned_seg=6), translated(misaligned_seg=5)),
    Case("low_quality", translated(comet_qe=0.5), translated(comet_qe=0.7)),
]

FAMILY_CASES: dict[str, list[Case]] = {
    "conversational-tool-use": CONVERSATIONAL,
    "factual-recall": FACTUAL_RECALL,
    "function-code": FUNCTION_CODE,
    "instruction-following": INSTRUCTION_FOLLOWING,
    "math-with-judge": MATH,
    "multiple-choice": MULTIPLE_CHOICE,
    "over-refusal": OVER_REFUSAL,
    "rtl": RTL,
    "software-engineering": SOFTWARE_ENGINEERING,
    "speech": SPEECH,
    "tau": TAU,
    "text-to-sql": TEXT_TO_SQL,
    "tool-assistant": TOOL_ASSISTANT,
    "translation": TRANSLATION,
}
CASES = dict(sorted({**FAMILY_CASES, **BENCHMARK_CASES}.items()))


def numbered(rows: list[Row]) -> list[Row]:
    return [{**row, "_ng_task_index": index} for index, row in enumerate(rows)]


@pytest.mark.parametrize("name", CASES)
def test_every_pattern_has_a_case_in_its_order(name: str) -> None:
    assert [case.code for case in CASES[name]] == [rule.code for rule in load_pack(name).patterns]


def test_every_shipped_pack_has_cases() -> None:
    assert list(CASES) == shipped_names()


@pytest.mark.parametrize(
    ("name", "case"),
    [pytest.param(name, case, id=f"{name}-{case.code}") for name, cases in CASES.items() for case in cases],
)
def test_a_pattern_is_hit_by_its_row_and_missed_by_a_near_one(tmp_path: Path, name: str, case: Case) -> None:
    said = apply_rows(tmp_path, name, numbered([case.hit, case.near, {**case.near, "reward": 1.0}]))

    hits = next(hits for hits in said.patterns if hits.rule.code == case.code)
    assert belongs_to(said)[0] == case.code
    assert hits.rows.tolist() == [0]


@pytest.mark.parametrize("name", CASES)
def test_a_run_of_the_family_is_recognised(tmp_path: Path, name: str) -> None:
    choice = choose_pack(read_rows(tmp_path, numbered([case.hit for case in CASES[name]])))

    assert choice.pack is not None and choice.pack.name == name


@pytest.mark.parametrize(
    ("name", "way"),
    [pytest.param(name, way, id=f"{name}-{way}") for name in CASES for way in range(len(load_pack(name).matches))],
)
def test_each_way_of_recognising_a_run_is_enough(tmp_path: Path, name: str, way: int) -> None:
    match = load_pack(name).matches[way]
    row: Row = {"task_id": 0, "trial": 0, "traj": []} if match.formats else rollout(0, 0, 1.0)
    for path in [*match.all_fields, *match.any_fields[:1]]:
        owner, _, field = path.text.rpartition(".")
        (row.setdefault(owner, {}) if owner else row)[field] = "A"
    if match.first_tool is not None:
        row["response"]["output"] = [call("email_search_emails")]
    if match.prompt is not None:
        row["responses_create_params"]["input"] = [message("CREATE TABLE t (a)", "user")]

    choice = choose_pack(read_rows(tmp_path, [row]))

    assert choice.pack is not None and choice.pack.name == name


@pytest.mark.parametrize("name", shipped_names())
def test_a_shipped_pack_is_as_the_schema_says(name: str) -> None:
    path = skills_folder() / name / "assets" / "taxonomy.yaml"

    assert (check_pack(path), load_pack(path).name, load_pack(name).source) == ([], name, "shipped")


@pytest.mark.parametrize("name", shipped_names())
def test_patterns_of_data_infrastructure_and_verifier_come_before_the_models(name: str) -> None:
    causes = [rule.cause for rule in load_pack(name).patterns]
    blamed = [index for index, cause in enumerate(causes) if cause not in ("DA", "IR", "TI")]
    sure = [
        index
        for index, rule in enumerate(load_pack(name).patterns)
        if rule.cause in ("DA", "IR", "TI") and rule.confidence != "low"
    ]

    assert max(sure, default=-1) < min(blamed)


def tau_bench(task: int, reward: float, info: Row, *turns: Row) -> Row:
    chat = [{"role": "system", "content": "policy"}, {"role": "user", "content": "hi"}, *turns]
    return {"task_id": task, "trial": 0, "reward": reward, "traj": chat, "info": {"task": {"user_id": "u"}, **info}}


def asks(name: str) -> Row:
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": name, "arguments": "{}"}}],
    }


def test_tau_bench_files_are_read_by_their_own_fields(tmp_path: Path) -> None:
    told = {"source": "user", "reward_info": {"reward": 0.0, "info": {"r_outputs": 0.0, "outputs": {"5": False}}}}
    wrong = {"source": "user", "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0}}}
    right = {"source": "user", "reward_info": {"reward": 1.0, "info": {"r_actions": 1.0}}}
    handed = {"source": "transfer_to_human_agents", "reward_info": {"reward": 0.0, "info": {"r_actions": 0.0}}}
    outputs_right = {"source": "user", "reward_info": {"reward": 0.0, "info": {"r_outputs": 1.0}}}
    said = {"role": "assistant", "content": "Done."}
    run = [
        tau_bench(0, 0.0, {"source": "user", "reward_info": None}, asks("find_user")), tau_bench(1, 0.0, told, said),
        tau_bench(2, 0.0, wrong, said), tau_bench(3, 0.0, wrong, asks("cancel_order"), said),
        tau_bench(4, 1.0, right, said), tau_bench(5, 0.0, handed, asks("transfer_to_human_agents")),
        tau_bench(6, 0.0, outputs_right, said),
    ]  # fmt: skip
    choice = choose_pack(read_rows(tmp_path, run))
    assert choice.pack is not None

    assert choice.why == "tau: format tau-bench, field info.task, field info.source"
    assert belongs_to(apply_rows(tmp_path, choice.pack, run)) == [
        "ran_out_of_turns", "user_not_told", "nothing_changed", "wrong_database", None, "handed_over", "wrong_database",
    ]  # fmt: skip


def test_rows_with_nothing_but_a_reward_are_recognised_by_their_prompt(tmp_path: Path) -> None:
    schema = {"input": [message("### Question\nHow many?\n\nCREATE TABLE schools (id TEXT)", "user")]}
    good = failed(message("So:\n```sql\nSELECT count(*) FROM schools\n```"), params=schema)
    bare = failed(message("There are four."), params=schema)

    choice = choose_pack(read_rows(tmp_path, numbered([good, bare])))

    assert choice.pack is not None and choice.pack.name == "text-to-sql"
    assert belongs_to(apply_rows(tmp_path, choice.pack, numbered([good, bare]))) == ["other_result", "no_query"]


def test_the_judges_word_for_a_difference_is_not_a_failed_judge(tmp_path: Path) -> None:
    said = apply_rows(tmp_path, "text-to-sql", [query("judge_evaluation_failed", judge=["[[A!=B]]"])])

    (rule,) = [hits.rule for hits in said.patterns if hits.primary.any()]
    assert (rule.code, rule.cause) == ("not_equivalent", None)


def test_an_error_kind_that_means_nothing_explains_nothing(tmp_path: Path) -> None:
    rows = numbered([patched(), {**patched(), "resolved": True, "reward": 1.0}])

    said = apply_rows(tmp_path, "software-engineering", rows)

    assert belongs_to(said) == ["wrong_patch", None]


def test_a_service_without_an_image_is_blamed_on_the_verifier(tmp_path: Path) -> None:
    log = "No image defined for service 'synth'"

    said = apply_rows(tmp_path, "rtl", [simulated(LONG * 200, log)])

    hits = next(hits for hits in said.patterns if hits.primary.any())
    assert (hits.rule.cause, hits.rows.tolist()) == ("TI", [0])


def test_missed_instructions_are_counted_by_their_id(tmp_path: Path) -> None:
    ids = ["count:numbers", "keywords:existence"]
    rows = numbered([instructed(ids, [False, False]), instructed(ids, [False, True]), instructed(ids[:1], [False])])

    said = apply_rows(tmp_path, "instruction-following", rows)

    counted = next(hits.by for hits in said.patterns if hits.rule.code == "instruction_missed")
    assert [(count.value, count.rollouts) for count in counted] == [("count:numbers", 3), ("keywords:existence", 1)]
