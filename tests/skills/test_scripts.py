"""Scripts of skills: what each computes, by hand, and how all of them behave."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rollout_rows import Row, message, rollout
from script_runs import SCRIPTS, SKILLS, run_script, said_by


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_explains_itself_with_an_example_and_its_exit_codes(script: str) -> None:
    done = run_script(script, "--help")

    assert (done.returncode, done.stderr) == (0, "")
    assert f"python {script.partition('/')[2]} " in done.stdout
    assert "exit codes: 0 done, 2 wrong usage, 3" in done.stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_rows_of_another_family_and_missing_files_exit_with_3_and_one_sentence(script: str, tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").write_text('{"a": 1}\n', encoding="utf-8")

    for done in (run_script(script, tmp_path / "other.jsonl"), run_script(script, tmp_path / "none.jsonl")):
        assert (done.returncode, done.stdout) == (3, "")
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("script", SCRIPTS)
def test_no_script_is_long(script: str) -> None:
    assert len((SKILLS / script).read_text(encoding="utf-8").splitlines()) <= 200


def choice(task: int, expected: str, chosen: str | None, **fields: Any) -> Row:
    return rollout(task, 0, float(expected == chosen), expected_answer=expected, extracted_answer=chosen, **fields)


def test_letters_are_counted_and_a_leaning_to_one_is_seen(tmp_path: Path) -> None:
    four = ["w", "x", "y", "z"]
    rows: list[Row | str] = [choice(task, "A", "C", options=four) for task in range(12)]
    rows += [choice(12, "C", "C"), choice(13, "B", None), "not JSON"]

    said = said_by("multiple-choice/scripts/position_bias.py", tmp_path, rows)

    assert (said["rollouts"], said["no_letter_read"], said["bad_lines"]) == (14, 1, 1)
    assert said["letters"][2] == {
        "letter": "C", "expected": 1, "chosen": 13, "right": 1, "found_when_right": 1.0, "right_when_chosen": 0.0769,
    }  # fmt: skip
    assert said["confusions"] == [{"right": "A", "chosen": "C", "rollouts": 12}]
    # Twelve of twelve on one of three letters: 3 x (1/3)^12 by chance.
    assert said["bias"]["expected_if_even"] == {"B": 4.0, "C": 4.0, "D": 4.0}
    assert said["bias"]["p_value"] < 0.001


def test_repeats_of_a_task_count_once_in_the_test_for_a_leaning(tmp_path: Path) -> None:
    rows: list[Row | str] = [{**choice(0, "A", "C"), "_ng_rollout_index": repeat} for repeat in range(30)]

    said = said_by("multiple-choice/scripts/position_bias.py", tmp_path, rows)

    assert (said["bias"]["tasks"], said["bias"]["p_value"]) == (1, None)


@pytest.mark.parametrize(
    ("output", "expected", "kind"),
    [
        pytest.param("1 2\n3\n", "1 2 3", "same_words", id="layout"),
        pytest.param("1.0\n", "1\n", "same_numbers", id="numbers"),
        pytest.param("", "1\n", "nothing", id="nothing"),
        pytest.param("1\n", "1\n2\n", "cut_short", id="cut"),
        pytest.param("Answer: 1 2", "1 2", "more_than_asked", id="more"),
        pytest.param("2", "1", "different", id="different"),
    ],
)
def test_outputs_are_told_apart_by_how_they_differ(tmp_path: Path, output: str, expected: str, kind: str) -> None:
    row = rollout(4, 1, 0.0, metadata={"output": output, "expected": expected, "error_code": -2})

    said = said_by("function-code/scripts/same_output.py", tmp_path, [row, rollout(5, 0, 1.0, metadata={})])

    assert (said["compared"], said["kinds"][kind], sum(said["kinds"].values())) == (1, 1, 1)
    assert said["rollouts"][kind][0]["rollout"] == "4:1"


def test_a_statement_that_allows_any_answer_is_noticed(tmp_path: Path) -> None:
    asked = {"input": [message("If there are several solutions, print any.", "user")]}
    row = rollout(0, 0, 0.0, metadata={"output": "2", "expected": "1"}, params=asked)

    assert said_by("function-code/scripts/same_output.py", tmp_path, [row])["several_answers_allowed"] == 1


def kept(*flags: bool) -> Row:
    names = ["length:words", "format:title", "keywords:none"][: len(flags)]
    return rollout(0, 0, float(all(flags)), instruction_id_list=names, follow_instruction_list=list(flags))


def test_instructions_are_counted_and_the_one_alone_to_blame_is_named(tmp_path: Path) -> None:
    uneven = rollout(1, 0, 0.0, instruction_id_list=["a"], follow_instruction_list=[])
    rows: list[Row | str] = [kept(True, True), kept(False, True), kept(False, False), kept(True), uneven]

    said = said_by("instruction-following/scripts/constraint_rates.py", tmp_path, rows)

    assert (said["rollouts"], said["all_kept"], said["uneven_rows"]) == (4, 2, 1)
    assert said["instructions"] == [
        {"id": "length:words", "asked": 4, "kept": 2, "rate": 0.5, "alone_to_blame": 1},
        {"id": "format:title", "asked": 3, "kept": 2, "rate": 0.6667, "alone_to_blame": 0},
    ]
    # Two instructions: 3 of 6 kept, so 3 rollouts x 0.5 squared.
    assert said["by_number_of_instructions"][1] == {
        "instructions": 2, "rollouts": 3, "all_kept": 1, "kept_rate": 0.5, "all_kept_if_independent": 0.75,
    }  # fmt: skip


def heard(task: int, text: str, said: str, tokens: int) -> Row:
    usage = {"usage": {"input_tokens": tokens}}
    return rollout(task, 0, float(text == said), text=text, pred_text=said, wer=None, response=usage)


def test_word_errors_are_told_apart(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        heard(0, "the cat sat down", "the hat sat", 90),  # one substituted, one left out
        heard(1, "go", "the transcription is go", 70),  # three added, none without the preamble
        heard(2, "stop now", "stop now", 80),
    ]

    said = said_by("speech/scripts/wer_breakdown.py", tmp_path, rows)

    assert [said[key] for key in ("words", "substituted", "left_out", "added")] == [7, 1, 1, 3]
    # 5 errors in 7 words; the rows have 2/4, 3/1 and 0.
    assert (said["wer_over_all_words"], said["mean_of_rows"]) == (0.7143, 1.1667)
    assert (said["begin_with_a_sentence_about_the_task"], said["worst"][0]["errors_without_preamble"]) == (1, 0)
    assert said["audio_may_be_missing"] is False


def test_prompts_of_one_length_say_that_the_audio_may_be_missing(tmp_path: Path) -> None:
    rows: list[Row | str] = [heard(task, "a b c"[: task + 1], "x", 67) for task in range(3)]

    assert said_by("speech/scripts/wer_breakdown.py", tmp_path, rows)["audio_may_be_missing"] is True


def tau_row(*calls: tuple[str, Row, str]) -> Row:
    """A tau-bench row whose task expects one cancellation and one mail; calls come with what the tool answered."""
    turns: list[Row] = [{"role": "system", "content": "policy"}]
    for index, (name, arguments, answer) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        turns.append({"role": "assistant", "content": None, "tool_calls": [{"id": f"c{index}", "function": function}]})
        turns.append({"role": "tool", "tool_call_id": f"c{index}", "content": answer})
    expected = [
        {"name": "cancel_order", "kwargs": {"order_id": "7"}},
        {"name": "send_certificate", "kwargs": {"user_id": "u", "amount": 100}},
        {"name": "get_order", "kwargs": {"order_id": "7"}},
    ]
    return {"task_id": 3, "trial": 1, "reward": 0.0, "traj": turns, "info": {"task": {"actions": expected}}}


def test_calls_are_held_against_the_expected_ones(tmp_path: Path) -> None:
    row = tau_row(
        ("cancel_order", {"order_id": "7"}, "done"),
        ("send_certificate", {"user_id": "u", "amount": 50}, "done"),
        ("update_order", {"order_id": "9"}, "done"),
        ("book_order", {"order_id": "9"}, "Error: no such order"),
    )
    place = tmp_path / "tau.json"
    place.write_text(json.dumps([row, {**row, "reward": 1.0}]), encoding="utf-8")

    done = run_script("tau/scripts/action_diff.py", place)

    assert json.loads(done.stdout)["by_rollout"] == [
        {
            "task": "3",
            "repeat": 1,
            "reward": 0.0,
            "as_expected": ["cancel_order"],
            "with_other_arguments": {"send_certificate.amount": {"expected": "100", "given": "50"}},
            "never_made": [],
            "not_asked_for": ['update_order {"order_id": "9"}'],
            "refused": 1,
        }
    ]


def test_expected_calls_of_tau2_are_read_from_their_checks(tmp_path: Path) -> None:
    def check(name: str, **fields: Any) -> Row:
        return {"action": {"name": name, "arguments": {"line": "1", "note": "x"}, "requestor": "assistant", **fields}}

    checks = [check("resume_line", compare_args=["line"]), check("enable_roaming"), check("toggle", requestor="user")]
    calls = [{"id": "a", "name": "resume_line", "arguments": {"line": "1", "note": "other"}}]
    result = {"reward_info": {"action_checks": checks}, "messages": [{"role": "assistant", "tool_calls": calls}]}

    said = said_by("tau/scripts/action_diff.py", tmp_path, [rollout(5, 2, 0.0, result=result)])

    (one,) = said["by_rollout"]
    assert (one["task"], one["as_expected"]) == ("5", ["resume_line"])
    assert one["never_made"] == ['enable_roaming {"line": "1", "note": "x"}']


def test_segments_that_were_lost_made_up_copied_or_weak_are_counted(tmp_path: Path) -> None:
    def span(source: str, target: str, score: float, **flags: bool) -> Row:
        return {"src": source, "tgt": target, "comet_qe": score, "deleted": False, "hallucinated": False, **flags}

    spans = [
        span("A day", "Ein Tag", 0.9),
        span("The end", "The end", 0.8),
        span("1865", "1865", 0.9),
        span("Night", "", 0.0, deleted=True),
        span("", "Nacht", 0.0, hallucinated=True),
        span("Odd", "Seltsam", 0.2),
    ]
    row = rollout(0, 0, 0.5, target_language="de", spans=spans, doc_id="d")

    said = said_by("translation/scripts/weak_segments.py", tmp_path, [row])

    # 2.8 over 6 segments, and over the 4 that found a partner.
    assert said["languages"]["de"] == {
        "segments": 6, "left_out": 1, "made_up": 1, "copied": 1, "below_0.4": 1, "mean": 0.4667, "mean_of_aligned": 0.7,
    }  # fmt: skip
    assert [weak["what"] for weak in said["weak"]] == ["left_out", "made_up", "copied", "translated"]


def patched(repeat: int, function: str, *, passed: bool, file: str = "src/a.py") -> Row:
    patch = f"diff --git a/{file} b/{file}\n--- a/{file}\n+++ b/{file}\n@@ -1,2 +1,2 @@ {function}\n-x\n+y\n+z\n"
    return rollout(0, repeat, float(passed), model_patch=patch, resolved=passed)


def test_places_of_passing_and_failing_patches_are_contrasted(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        patched(0, "def stack():", passed=True),
        patched(1, "def matrix():", passed=False),
        patched(2, "def check():", passed=False, file="tests/test_a.py"),
        rollout(0, 3, 0.0, model_patch=None, resolved=False),
    ]

    (task,) = said_by("software-engineering/scripts/patch_places.py", tmp_path, rows)["tasks"]

    assert (task["passed"], task["rollouts"], task["only_in_passing"]) == (1, 4, ["src/a.py: def stack():"])
    assert task["only_in_failing"] == ["src/a.py: def matrix():", "tests/test_a.py: def check():"]
    assert [(patch["added"], patch["removed"], patch["odd"]) for patch in task["patches"]] == [
        (2, 1, []), (2, 1, []), (2, 1, ["changes tests"]), (0, 0, ["no patch"]),
    ]  # fmt: skip


def graded(verdict: str, topic: str) -> Row:
    flags: Row = {f"is_{name}": float(name == verdict) for name in ("correct", "incorrect", "not_attempted")}
    return rollout(0, 0, flags["is_correct"], verdict=verdict, topic=topic, **flags)


def test_right_wrong_and_withheld_answers_are_counted(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        graded("correct", "art"), graded("incorrect", "art"), graded("not_attempted", "sea"), graded("correct", "sea"),
    ]  # fmt: skip

    said = said_by("factual-recall/scripts/attempt_rates.py", tmp_path, rows, "--by", "topic")

    assert [said[key] for key in ("right", "wrong", "withheld", "right_share")] == [2, 1, 1, 0.5]
    # 2 of 3 attempted; the harmonic mean of 1/2 and 2/3 is 4/7.
    assert (said["right_of_attempted"], said["f"]) == (0.6667, 0.5714)
    assert {name: group["right"] for name, group in said["values"].items()} == {"art": 1, "sea": 1}


def test_the_telling_lines_of_simulations_are_pulled_out(tmp_path: Path) -> None:
    log = "x\n" * 50 + "  AssertionError: step 1: expected 1, got 0\n** TESTS=8 PASS=7 FAIL=1 SKIP=0 **\n"
    services = [
        {"service": "sim", "exit_code": 1, "stderr": log},
        {"service": "synth", "exit_code": 1, "stderr": "No image defined for service 'synth'"},
    ]

    said = said_by("rtl/scripts/service_report.py", tmp_path, [rollout(2, 0, 0.0, container_services=services)])

    sim, synth = said["by_rollout"][0]["services"]
    assert said["cannot_pass"] == ["2"]
    assert (sim["tests"], sim["failed"], sim["why"]) == (8, 1, ["AssertionError: step 1: expected 1, got 0"])
    assert (synth["tests"], synth["no_image"]) == (None, True)


def lured(task: int, chosen: str | None, repeat: int = 0) -> Row:
    """An answer to a question of five options: A is right, B is the lure."""
    fields: Row = {"extracted_answer": chosen, "took_lure": None if chosen is None else chosen == "B"}
    known: Row = {"expected_answer": "A", "options": list("vwxyz"), "kind": "logic", "task_id": f"t{task}"}
    return rollout(task, repeat, float(chosen == "A"), **known, **fields)


def test_lures_are_told_from_guesses(tmp_path: Path) -> None:
    rows: list[Row | str] = [lured(task, "B") for task in range(5)]
    rows += [lured(5, "C"), lured(6, "A"), lured(7, None), lured(0, "C", repeat=1)]

    said = said_by("trap-questions/scripts/lure_rates.py", tmp_path, rows)

    assert [said[key] for key in ("right", "lure", "other_option", "no_option_read")] == [1, 5, 2, 1]
    # Six tasks, each a lure by chance 1/4: P(5 or 6) = 6 (1/4)^5 (3/4) + (1/4)^6 = 19/4096.
    assert said["test"] == {
        "tasks_answered_wrongly": 6,
        "first_wrong_answer_is_the_lure": 5,
        "expected_by_guessing": 1.5,
        "p_value": 0.0046,
    }
    assert (said["always_the_lure"], said["by"]["logic"]["lure"]) == (["t1", "t2", "t3", "t4"], 5)


def test_wrong_facts_are_sorted_by_what_was_done_to_them(tmp_path: Path) -> None:
    expected = {"name": "Ola", "age": 4, "city": None, "paid": True, "people": [{"job": "cook"}, {"job": "baker"}]}
    given = {"name": "Rosa", "age": "four", "city": "Bergen", "paid": None, "people": [{"job": "Cook."}]}
    fields: Row = {"expected": expected, "extracted_answer": json.dumps(given), "text": "Ola, 4, met Rosa."}

    said = said_by("fact-forms/scripts/wrong_values.py", tmp_path, [rollout(2, 1, 0.0, task_id="ff", **fields)])

    assert list(said["fields"].items()) == [
        *[("name: in_the_text", 1), ("age: other_type", 1), ("city: made_up", 1)],
        *[("paid: left_out", 1), ("people.job: left_out", 1)],
    ]
    assert said["examples"][0] == {
        "rollout": "2:1", "task": "ff", "field": "name", "kind": "in_the_text", "expected": "Ola", "given": '"Rosa"',
    }  # fmt: skip


def at_desk(repeat: int, tools: list[str], *differences: str) -> Row:
    passed = float(not differences)
    return rollout(7, repeat, passed, tools_called=tools, state_diff=list(differences), wrong_calls=[], task_id="od")


def test_changes_to_the_desk_are_told_field_by_field(tmp_path: Path) -> None:
    rows: list[Row | str] = [
        at_desk(
            0, ["update_record"], "records: missing id=r2, status=shipped", "records: unexpected id=r2, status=open"
        ),
        at_desk(1, ["send_mail"], "mails: missing body=a, b, to=ann", "events: unexpected title=x, date=2025"),
        at_desk(2, ["send_mail"]),
        at_desk(3, ["find_contact", "send_mail"]),
        {
            **at_desk(4, ["send_mail"]),
            "responses_create_params": {"input": [{"content": "Write to ann@office.example."}]},
        },
    ]

    said = said_by("office-desk/scripts/desk_changes.py", tmp_path, rows)

    assert (said["desk_not_as_expected"], said["fields_that_differ"]) == (2, {"records.status": 1})
    assert (said["not_done"], said["not_asked_for"]) == ({"mails": 1}, {"events": 1})
    assert said["passes_with_a_guessed_address"] == ["7:2"]


def test_a_reader_that_leaves_early_is_no_error(tmp_path: Path) -> None:
    rows = [json.dumps(graded("correct", f"topic {index}")) for index in range(4000)]
    place = tmp_path / "rows.jsonl"
    place.write_text("\n".join(rows), encoding="utf-8")
    script = SKILLS / "factual-recall" / "scripts" / "attempt_rates.py"
    command = [sys.executable, str(script), str(place), "--by", "topic", "--limit", "4000"]

    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
