"""Made-up rollouts for evals of skills about actions and media: tools, repositories, designs, speech, translation."""

import json
from typing import Any

from rollout_rows import Row, call, message, result, rollout


def asked(text: str) -> Row:
    return {"input": [message(text, "user")]}


def speech() -> list[Row]:
    """Five clips whose prompts all have 67 tokens: the audio never arrived; and one time that the normaliser breaks."""

    def row(task: int, text: str, said: str, wer: float, *, cased: str) -> Row:
        return rollout(
            task,
            0,
            0.0,
            output=[message(said)],
            params=asked("Transcribe the audio with proper punctuation and capitalization."),
            response={"usage": {"input_tokens": 67, "output_tokens": 20, "total_tokens": 87}},
            text=text,
            pred_text=said.lower(),
            wer=wer,
            wer_c=wer,
            wer_pc=wer,
            ref_c=cased,
            hyp_c=said,
            hyp_pc_tok=said,
            ref_pc_tok=cased,
            is_correct=False,
        )

    return [
        row(0, "hello world", "the transcription of the audio is no thinking", 4.0, cased="Hello world"),
        row(1, "she sells sea shells", "the audio says i could not think", 1.75, cased="She sells sea shells"),
        row(2, "the quick brown fox", "the recording says do not think so", 1.75, cased="The quick brown fox"),
        row(3, "he came at 40 clock", "he came at 4 oclock", 0.4, cased="He came at four oclock"),
        row(4, "good night moon", "the transcription is think again", 1.6667, cased="Good night moon"),
    ]


def translation() -> list[Row]:
    """Two documents in two languages: English left in the German one, a scorer that was not there, one poem."""

    def span(source: str, target: str, score: float, **flags: bool) -> Row:
        return {"src": source, "tgt": target, "comet_qe": score, "deleted": False, "hallucinated": False, **flags}

    def row(task: int, document: str, language: str, spans: list[Row], error: str | None = None) -> Row:
        score = 0.0 if error else sum(one["comet_qe"] for one in spans) / len(spans)
        text = "\n".join(one["tgt"] for one in spans)
        return rollout(
            task,
            0,
            round(score, 4),
            output=[message(text)],
            source_language="en",
            target_language=language,
            doc_id=document,
            generation=text,
            comet_qe=round(score, 4),
            lang_fidelity=1.0,
            total_seg=len(spans),
            misaligned_seg=sum(one["deleted"] or one["hallucinated"] for one in spans),
            spans=spans,
            segale_error=error,
        )

    german = [
        span("LAST DAYS OF THE WAR", "LAST DAYS OF THE WAR", 0.81),
        span("The train left at noon.", "Der Zug fuhr am Mittag ab.", 0.84),
        span("Nobody spoke a word.", "Nobody spoke a word.", 0.79),
        span("We rode on.", "", 0.0, deleted=True),
    ]
    spanish = [span(one["src"], f"es: {one['src']}", 0.8) for one in german]
    verse = [span("O darkling wave", "Oh dunkle Welle", 0.45), span("thou sing'st", "du singst", 0.41)]
    return [
        row(0, "war-diary", "de_DE", german),
        row(1, "war-diary", "es_MX", spanish),
        row(2, "sea-poem", "de_DE", verse),
        row(3, "sea-poem", "es_MX", verse, error="actor_unavailable"),
    ]


def conversational() -> list[Row]:
    """Four talks: a tool is blamed where the agent erred, a user gives up on a bad question, a judge is right once."""

    def row(task: int, labels: list[str], reasons: list[str], results: list[Row], *output: Row) -> Row:
        counts = {f"num_{who}_failures": int(f"{who}_failure" in labels) for who in ("user", "agent", "tool")}
        return rollout(
            task,
            0,
            int(not labels),
            output=list(output),
            failure_labels=labels,
            trajectory_invalid_reasons=reasons,
            terminal_state="complete",
            judge_generation_error=None,
            judge_diagnostics={"enable_termination": True, "message_verification_results": results},
            policy="Block underage registrations for events for adults. Look up event ids yourself.",
            **counts,
        )

    def judged(index: int, source: str, reward: int | None, why: str | None = None) -> Row:
        return {"index": index, "source": source, "reward": reward, "explanation": why}

    minor = "The tool registered a 16-year-old. The agent's decision to proceed with registration violates this policy."
    left = "The customer ended the interaction before the booking; the representative asked for the event id."
    early = "The representative called authenticate_user with 'send_code' before any code was given."
    return [
        row(
            0,
            ["tool_failure"],
            ["no_reward_environment_message"],
            [judged(0, "user", 1), judged(1, "agent", None), judged(2, "environment", 0, minor)],
            message("I am 16 and want to join the workshop for adults.", "user"),
            call("register_for_event", json.dumps({"event": "adult-workshop", "age": 16})),
            result('{"status": "registered"}'),
            message("You are registered."),
        ),
        row(
            1,
            ["user_failure"],
            ["no_reward_user_message"],
            [judged(0, "user", 1), judged(1, "agent", None), judged(2, "user", 0, left)],
            message("Two tickets for the Sci-Fi panel, please.", "user"),
            message("What is the event id?"),
            message("I have no idea. Goodbye.", "user"),
        ),
        row(
            2,
            ["agent_failure"],
            [],
            [judged(0, "user", 1), judged(1, "agent", 0, early)],
            message("Cancel my reservation.", "user"),
            call("authenticate_user", json.dumps({"code": "send_code"})),
            result('{"error": "invalid code"}'),
            message("Cancelled."),
        ),
        row(3, [], [], [judged(0, "user", 1), judged(1, "agent", 1)], message("Done.")),
    ]


def rtl() -> list[Row]:
    """Four designs: a port the prompt names otherwise, a service without image, one failed assertion, one pass."""

    def row(task: int, prompt: str, *services: tuple[str, int, str]) -> Row:
        code = max(one[1] for one in services)
        return rollout(
            task,
            0,
            float(code == 0),
            output=[message("module top(input [3:0] data_i); endmodule")],
            params=asked(prompt),
            task_id=f"design_{task}",
            category="cid002" if task % 2 else "cid003",
            extracted_rtl={"rtl/top.sv": "module top(input [3:0] data_i); endmodule"},
            container_exit_code=code,
            container_services=[
                {"service": name, "exit_code": number, "stderr": log} for name, number, log in services
            ],
            container_stderr="\n".join(log for _, _, log in services),
            parse_failed=False,
        )

    port = "AttributeError: 'top contains no child object named i_data'\n** TESTS=1 PASS=0 FAIL=1 SKIP=0 **"
    gray = "AssertionError: Gray code mismatch at step 1: expected 1, got 0\n** TESTS=8 PASS=7 FAIL=1 SKIP=0 **"
    good = "** TESTS=4 PASS=4 FAIL=0 SKIP=0 **"
    return [
        row(0, "Write module top with the input `data_i[3:0]`.", ("sim", 1, port)),
        row(1, "Write a fan.", ("sanity", 0, good), ("synth", 1, "No image defined for service 'synth'")),
        row(2, "Write a counter.", ("sim", 1, gray)),
        row(3, "Write a gate.", ("sim", 0, good)),
    ]


def software_engineering() -> list[Row]:
    """One issue five times: only the pass edits `stack`, last messages claim what is not so, no test can run."""
    final = {
        0: "The reported behaviour appears to be a misunderstanding; I only tidied the code.",
        1: "I've fixed the bug.",
        2: "The fix is complete and correct.",
        3: "I've fixed the bug in matrix.",
        4: "Done, all tests pass.",
    }
    rows = []
    for repeat, text in final.items():
        place = "def stack(left, right):" if repeat == 0 else "def matrix(model):"
        patch = (
            "diff --git a/src/separable.py b/src/separable.py\n--- a/src/separable.py\n+++ b/src/separable.py\n"
            f"@@ -10,3 +10,3 @@ {place}\n-    x = 1\n+    x = right\n"
        )
        output = [
            call("Bash", json.dumps({"command": "pytest"}), f"c{repeat}"),
            result("ModuleNotFoundError: No module named 'erfa'", f"c{repeat}"),
            message(text),
        ]
        fields: Row = {
            "patch_exists": True,
            "agent_error_kind": "other",
            "agent_timed_out": False,
            "eval_timed_out": False,
        }
        passed = repeat == 0
        rows.append(
            rollout(
                0, repeat, float(passed), output=output, resolved=passed, model_patch=patch, error_kind=None, **fields
            )
        )
    return rows


def tau() -> list[Row]:
    """Three tasks twice: a bag too many against the policy, a change nobody asked for, a total never told."""

    def turn(name: str, **arguments: Any) -> list[Row]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        asked_ = {"role": "assistant", "content": None, "tool_calls": [{"id": name, "function": function}]}
        return [asked_, {"role": "tool", "tool_call_id": name, "name": name, "content": "ok"}]

    def row(task: int, trial: int, reward: float, info: Row, actions: list[Row], *turns: Row) -> Row:
        policy = "Gold members have 3 free bags in economy. Never change what the user did not ask for."
        opening = [{"role": "system", "content": policy}, {"role": "user", "content": "Hello."}]
        closing = [{"role": "assistant", "content": "All done."}]
        return {
            "task_id": task,
            "trial": trial,
            "reward": reward,
            "traj": [*opening, *turns, *closing],
            "info": {
                "source": "user",
                "task": {"user_id": "u", "instruction": "Book with 3 bags.", "actions": actions, "outputs": []},
                "reward_info": {"reward": reward, "info": info},
            },
        }

    book = [{"name": "book_reservation", "kwargs": {"flight": "F1", "total_baggages": 3, "nonfree_baggages": 0}}]
    cancel = [{"name": "cancel_reservation", "kwargs": {"reservation_id": "R1"}}]
    paid = turn("book_reservation", flight="F1", total_baggages=3, nonfree_baggages=1)
    right = turn("book_reservation", flight="F1", total_baggages=3, nonfree_baggages=0)
    gone = turn("cancel_reservation", reservation_id="R1")
    more = turn("update_reservation_baggages", reservation_id="R2", total_baggages=4)
    return [
        row(0, 0, 0.0, {"r_actions": 0.0}, book, *paid),
        row(0, 1, 1.0, {"r_actions": 1.0}, book, *right),
        row(1, 0, 0.0, {"r_actions": 0.0}, cancel, *gone, *more),
        row(1, 1, 0.0, {"r_actions": 0.0}, cancel, *gone, *more),
        row(2, 0, 0.0, {"r_outputs": 0.0, "outputs": {"327": False}}, cancel, *gone),
        row(2, 1, 0.0, {"r_outputs": 1.0, "outputs": {"327": True}}, cancel),
    ]


def tool_assistant() -> list[Row]:
    """Five requests: a made-up date, one page of two, a pass by doing nothing, an ignored error, no lookup."""

    def row(task: int, repeat: int, reward: float, request: str, *output: Row) -> Row:
        params = {
            "input": [message("Today is 2023-11-30.", "system"), message(request, "user")],
            "tools": [{"name": "t"}],
        }
        return rollout(task, repeat, reward, output=list(output), params=params)

    def used(name: str, answer: str, /, **arguments: Any) -> list[Row]:
        return [call(name, json.dumps(arguments), name), result(answer, name)]

    plot = used("analytics_create_plot", '{"output": "p.png"}', time_min="2023-11-30", time_max="2024-06-30")
    none = used("crm_search_customers", '{"output": "No customers found."}', product="Consultig")
    page = used("email_search_emails", '{"page": 1, "pages": 2, "emails": [3]}', query="move", page=1)
    late = used("crm_update_customer", '{"error": "renewal must be a date"}', renewal="end of Q2")
    guess = used("email_send_email", '{"status": "sent"}', recipient="jun.park@atlas.example")
    known = used("company_directory_find_email_address", '{"email": "j.park@atlas.example"}', name="Jun Park")
    sent = used("email_send_email", '{"status": "sent"}', recipient="j.park@atlas.example")
    return [
        row(0, 0, 0.0, "Plot total visits since November 30.", *plot, message("Here is the chart.")),
        row(1, 0, 1.0, "Move customers who did not answer to lost.", *none, message("There are none.")),
        row(2, 0, 0.0, "How many mails about the move?", *page, message("You have 3 mails.")),
        row(3, 0, 0.0, "Set the renewal to the end of the second quarter.", *late, message("Done, it is set.")),
        row(4, 0, 0.0, "Write to Jun Park.", *guess, message("Sent.")),
        row(4, 1, 1.0, "Write to Jun Park.", *known, *sent, message("Sent.")),
    ]
