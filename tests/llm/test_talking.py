"""The three APIs say the same thing: what is asked arrives in their words, what they answer comes back in ours."""

import json
from typing import Any

import pytest
from asking import APIS, ask, question
from loopback import Answer, Call, Give, Loopback, Say, Status, Tool, in_turn

from blade.errors import UsageError
from blade.llm import ModelError, Request, Sampling, Usage, connect
from blade.llm.connect import Api, choose_api
from blade.llm.model import (
    assistant_message,
    call_result,
    function_call,
    reasoning_item,
    user_message,
)

ADD = {
    "type": "function",
    "name": "add",
    "description": "Add two numbers.",
    "parameters": {"type": "object", "properties": {"a": {"type": "number"}}},
}
HISTORY = [
    {"type": "message", "role": "system", "content": "Be brief."},
    user_message("Add 1 and 2."),
    reasoning_item("A sum.", id="rs_1", encrypted="sealed"),
    assistant_message("Let me see.", id="msg_1"),
    function_call("add", '{"a": 1}', call_id="c1"),
    function_call("add", "not json", call_id="c2"),
    call_result("3", call_id="c1"),
    call_result("Error", call_id="c2"),
]


@pytest.mark.parametrize("api", APIS)
def test_an_answer_comes_back_with_its_words_thoughts_calls_and_cost(api: Api) -> None:
    said = Say("It is", (Tool("add", {"a": 1}), Tool("add", {"a": 2})), thought="Hm.", tokens=(10, 5))
    with Loopback(in_turn(said)) as server:
        reply = ask(server, api)

    assert (reply.model, reply.text, reply.incomplete) == ("m-1", "It is", None)
    assert [item["type"] for item in reply.items] == ["reasoning", "message", "function_call", "function_call"]
    assert reply.items[0]["summary"] == [{"type": "summary_text", "text": "Hm."}]
    assert [json.loads(call["arguments"]) for call in reply.calls] == [{"a": 1}, {"a": 2}]
    assert len({call["call_id"] for call in reply.calls}) == 2
    assert reply.usage is not None
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.total_tokens) == (10, 5, 15)
    assert reply.usage.cached_tokens == 1


@pytest.mark.parametrize("api", APIS)
def test_an_answer_that_was_cut_says_so(api: Api) -> None:
    with Loopback(in_turn(Say("It i", is_cut=True))) as server:
        assert ask(server, api).incomplete == "max_output_tokens"


def test_an_answer_as_long_as_it_may_be_was_cut_whatever_the_server_says() -> None:
    limited = question(sampling=Sampling(max_output_tokens=5))
    with Loopback(in_turn(Say("It i", tokens=(10, 5)), Say("It", tokens=(10, 4)))) as server:
        assert ask(server, "responses", limited).incomplete == "max_output_tokens"
        assert ask(server, "responses", limited).incomplete is None


@pytest.mark.parametrize("api", APIS)
def test_an_empty_answer_is_an_answer(api: Api) -> None:
    with Loopback(in_turn(Say(""))) as server:
        reply = ask(server, api)

    assert (reply.text, reply.items) == ("", [])


def sent(api: Api, request: Request) -> dict[str, Any]:
    with Loopback(in_turn(Say("42"))) as server:
        ask(server, api, request)
        return server.calls[0].body


def test_chat_is_told_the_conversation_in_its_own_words() -> None:
    body = sent("chat", Request(input=HISTORY, instructions="You count.", tools=[ADD]))

    assert body == {
        "model": "m-1",
        "messages": [
            {"role": "system", "content": "You count."},
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Add 1 and 2."},
            {
                "role": "assistant",
                "content": "Let me see.",
                "reasoning_content": "A sum.",
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1}'}},
                    {"id": "c2", "type": "function", "function": {"name": "add", "arguments": "not json"}},
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "3"},
            {"role": "tool", "tool_call_id": "c2", "content": "Error"},
        ],
        "tools": [{"type": "function", "function": {name: ADD[name] for name in ADD if name != "type"}}],
    }


def test_messages_are_told_the_conversation_in_their_own_words() -> None:
    body = sent("messages", Request(input=HISTORY, instructions="You count.", tools=[ADD]))

    assert body == {
        "model": "m-1",
        "max_tokens": 16384,
        "system": "You count.\n\nBe brief.",
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Add 1 and 2."}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "A sum.", "signature": "sealed"},
                    {"type": "text", "text": "Let me see."},
                    {"type": "tool_use", "id": "c1", "name": "add", "input": {"a": 1}},
                    {"type": "tool_use", "id": "c2", "name": "add", "input": {"arguments": "not json"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c1", "content": "3"},
                    {"type": "tool_result", "tool_use_id": "c2", "content": "Error"},
                ],
            },
        ],
        "tools": [{"name": "add", "description": "Add two numbers.", "input_schema": ADD["parameters"]}],
    }


def test_responses_are_told_the_conversation_as_it_is() -> None:
    body = sent("responses", Request(input=HISTORY, instructions="You count.", tools=[ADD]))

    assert body == {"model": "m-1", "input": HISTORY, "instructions": "You count.", "tools": [ADD]}


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"], "additionalProperties": False}


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        pytest.param(
            "responses",
            {
                "max_output_tokens": 7,
                "text": {"format": {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": True}},
            },
            id="responses",
        ),
        pytest.param(
            "chat",
            {
                "max_tokens": 7,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": SCHEMA, "strict": True},
                },
            },
            id="chat",
        ),
        pytest.param(
            "messages",
            {"max_tokens": 7, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
            id="messages",
        ),
    ],
)
def test_sampling_and_schema_arrive(api: Api, expected: dict[str, Any]) -> None:
    sampling = Sampling(temperature=0.5, top_p=0.9, max_output_tokens=7, seed=3)
    body = sent(api, question(sampling=sampling, schema=SCHEMA))
    for name in ("model", "input", "messages"):
        body.pop(name, None)

    assert body == {"temperature": 0.5, "top_p": 0.9, "seed": 3, **expected}


def test_an_open_schema_is_not_called_strict() -> None:
    open_schema = {**SCHEMA, "additionalProperties": True}

    assert sent("chat", question(schema=open_schema))["response_format"]["json_schema"]["strict"] is False


REFUSALS = [
    "`temperature` is deprecated for this model.",
    "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) value is supported.",
]


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize("said", REFUSALS)
def test_a_setting_that_a_model_takes_from_nobody_is_left_out_and_named(api: Api, said: str) -> None:
    def script(call: Call) -> Answer:
        return Status(400, said) if "temperature" in call.body else Say("42")

    with Loopback(script) as server:
        reply = ask(server, api, question(sampling=Sampling(temperature=0.7, max_output_tokens=7)))

    assert (reply.text, reply.refused, len(server.calls)) == ("42", ["temperature"], 2)


def test_a_setting_with_a_wrong_value_is_not_left_out() -> None:
    with Loopback(in_turn(Status(400, "temperature must be at most 2"))) as server, pytest.raises(ModelError):
        ask(server, "chat", question(sampling=Sampling(temperature=5.0)))


@pytest.mark.parametrize(
    ("model", "base_url", "expected"),
    [
        ("claude-x", None, "messages"),
        ("gpt-x", None, "responses"),
        ("qwen", "http://localhost:1/v1", "chat"),
    ],
)
def test_the_api_is_chosen_by_name_and_place(
    model: str, base_url: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)

    assert choose_api(model, base_url=base_url) == expected


@pytest.mark.parametrize("url", ["localhost:8080", "file:///etc/passwd", "http://"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="expected something like http://localhost:8080/v1"):
        connect("m", base_url=url)


BODIES: dict[Api, dict[str, Any]] = {
    "responses": {"output": [{"type": "message", "content": [{"type": "output_text", "text": "42"}]}]},
    "chat": {"choices": [{"message": {"content": "42"}}]},
    "messages": {"type": "message", "content": [{"type": "text", "text": "42"}]},
}


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("cost", "known"), [("many", None), (-5, None), (2.5, None), (True, None), ([], None), (7.0, 7)]
)
def test_a_cost_that_is_no_count_is_unknown_and_the_answer_is_kept(api: Api, cost: object, known: int | None) -> None:
    name = "completion_tokens" if api == "chat" else "output_tokens"
    with Loopback(lambda call: Give({**BODIES[api], "id": "a", "usage": {name: cost}})) as server:
        reply = ask(server, api)

    assert (reply.text, reply.usage and reply.usage.output_tokens) == ("42", known)


def test_chat_that_comes_in_parts_without_an_id_or_arguments_is_understood() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "4"}, {"type": "text", "text": "2"}]
    call = {"function": {"name": "look", "arguments": None}}
    body = {"id": None, "choices": [{"message": {"content": parts, "tool_calls": [call]}}]}
    with Loopback(lambda asked: Give(body)) as server:
        reply = ask(server, "chat")

    assert (reply.text, [item["arguments"] for item in reply.calls]) == ("42", ["{}"])


def test_unknown_usage_stays_unknown() -> None:
    assert Usage() == Usage(input_tokens=None, output_tokens=None, total_tokens=None)
