"""Faults of the model: it stops, loops, overlooks an error, declines."""

from accuracy.failures import TOOL_ERRORS
from accuracy.injections import Injected, calls, fail, keys, strike, with_calls
from accuracy.made_runs import MadeRun, result, said, text_of, thought
from accuracy.speech import CLAIMS, PLANS, REFUSALS
from accuracy.wordings import Words


def truncation(run: MadeRun, share: float, words: Words) -> Injected:
    """The output ends in the middle of a sentence, and the response says so in one of three ways."""
    struck = strike(run, share, words.rng)
    how = words.rng.choice(("incomplete", None, "tokens") if run.family == "qa" else ("incomplete", None))
    for row in struck:
        output, response = row["response"]["output"], row["response"]
        place = words.rng.choice([i for i, item in enumerate(output) if item.get("role") != "user"][-3:])
        item = output[place]
        text = item["arguments"] if item["type"] == "function_call" else text_of(item)
        cut = text[: max(8, int(len(text) * words.rng.uniform(0.2, 0.7)))]
        ending = said(cut) if item["type"] != "reasoning" else thought(cut)
        fail(row, [*output[:place], ending])
        response["status"] = None if how == "tokens" else how
        if how != "tokens":
            response["incomplete_details"] = {"reason": "max_output_tokens"}
        response["usage"]["output_tokens"] = row["responses_create_params"]["max_output_tokens"]
    return Injected(run.rows, keys(struck))


def tool_loop(run: MadeRun, share: float, words: Words) -> Injected:
    """The same call three to eight times with the same result, alone or by turns with another, and then an answer."""
    rng = words.rng
    struck = strike(run, share, rng, among=with_calls(run))
    for row in struck:
        output, found = row["response"]["output"], calls(row)
        start = rng.randrange(len(found) - 1)
        turns = found[start : start + 2] if rng.random() < 0.2 else found[start : start + 1]
        kept = output[: turns[-1] + 2]
        for _ in range(rng.randint(3, 8) - 1):
            for at in turns:
                if rng.random() < 0.2:
                    kept.append(thought("Let me try this once more."))
                again = f"call_{words.id()}"
                kept += [{**output[at], "call_id": again}, {**output[at + 1], "call_id": again}]
        fail(row, [*kept, said(words.say(CLAIMS, what="record"))])
    return Injected(run.rows, keys(struck))


def ignored_error(run: MadeRun, share: float, words: Words) -> Injected:
    """The last tool result is an error, and the model says that all went well."""
    struck = strike(run, share, words.rng, among=with_calls(run))
    for row in struck:
        output, last = row["response"]["output"], calls(row)[-1]
        what = words.rng.choice(("order", "file", "address", "module"))
        error = result(words.say(TOOL_ERRORS, what=what), output[last]["call_id"])
        fail(row, [*output[: last + 1], error, said(words.say(CLAIMS, what=what))])
    return Injected(run.rows, keys(struck))


def early_stop(run: MadeRun, share: float, words: Words) -> Injected:
    """No final answer: the last item is a call, a result or a thought, or a message that announces a next step."""
    struck = strike(run, share, words.rng)
    for row in struck:
        output, found = row["response"]["output"], calls(row)
        if words.rng.random() < 0.15:
            ending = [*output[:-1], said(words.say(PLANS, what="details"))]
        elif found:
            at = words.rng.choice(found)
            ending = output[: at + words.rng.choice((1, 2))]
        else:
            ending = [thought(text_of(output[0]))] if words.rng.random() < 0.7 else [said("")]
        fail(row, ending)
    return Injected(run.rows, keys(struck))


def refusal(run: MadeRun, share: float, words: Words) -> Injected:
    """The model declines, at once or after a look."""
    struck = strike(run, share, words.rng)
    for row in struck:
        found = calls(row)
        kept = row["response"]["output"][: found[0] + 2] if found and words.rng.random() < 0.4 else []
        fail(row, [*kept, said(words.say(REFUSALS))])
    return Injected(run.rows, keys(struck))
