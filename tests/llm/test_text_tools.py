"""Tools in plain text: the loop sees function calls, the model sees lines."""

import asyncio
import json

import pytest

from blade.llm.model import Reply, Request, assistant_message, call_result, function_call, user_message
from blade.llm.text_tools import TextToolModel, in_items

TOOL = {
    "type": "function",
    "name": "find",
    "description": "Finds a contact.",
    "parameters": {"type": "object", "properties": {"name": {"type": "string"}, "kind": {"enum": ["a", "b"]}}},
}


class Scripted:
    """A model that says one thing and keeps what it was asked."""

    name = "scripted"

    def __init__(self, text: str) -> None:
        self.text = text
        self.asked: list[Request] = []

    async def ask(self, request: Request) -> Reply:
        self.asked.append(request)
        return reply(self.text)

    async def close(self) -> None:
        """Nothing to let go of."""


def reply(text: str, incomplete: str | None = None) -> Reply:
    return Reply(id="1", model="scripted", items=[assistant_message(text, id="m")], incomplete=incomplete)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        pytest.param('CALL find {"name": "Jun"}', {"name": "Jun"}, id="plain"),
        pytest.param('```\nCALL find {"name":\n "Jun"}\n```', {"name": "Jun"}, id="fenced_over_lines"),
        pytest.param('I look first.\nCALL: find({"name": "Jun"})', {"name": "Jun"}, id="like_a_function"),
        pytest.param('CALL find {"name": "Jun"}\nRESULT {"made": "up"}', {"name": "Jun"}, id="answers_itself"),
    ],
)
def test_a_line_becomes_a_call(text: str, arguments: object) -> None:
    (call,) = in_items(reply(text)).calls

    assert (call["name"], json.loads(call["arguments"])) == ("find", arguments)


def test_what_stands_before_a_call_is_said_and_what_follows_is_dropped() -> None:
    found = in_items(reply('First look.\nCALL find {"name": "Jun"}\nRESULT made up', incomplete="max_output_tokens"))

    assert (found.text, found.incomplete, len(found.items)) == ("First look.", None, 2)


def test_broken_arguments_are_left_for_the_tool_to_refuse() -> None:
    (call,) = in_items(reply('CALL find {"name": "Jun\nmore')).calls

    assert call["arguments"] == '{"name": "Jun'


@pytest.mark.parametrize("text", ["I will call find.", "They CALL me.", "Done."])
def test_prose_is_no_call(text: str) -> None:
    assert in_items(reply(text)) == reply(text)


def test_the_model_sees_tools_calls_and_results_as_text() -> None:
    model = Scripted("Done.")
    items = [
        {"type": "message", "role": "system", "content": "Be brief."},
        user_message("Find Jun."),
        function_call("find", '{"name": "Jun"}', call_id="c"),
        call_result("jun@x.example", call_id="c"),
    ]
    asyncio.run(TextToolModel(model).ask(Request(input=items, tools=[TOOL])))
    (asked,) = model.asked

    assert asked.tools == [] and asked.instructions is not None
    assert asked.instructions.startswith("Be brief.")
    assert "- find: name (string), kind (a | b). Finds a contact." in asked.instructions
    assert [(item["role"], item["content"]) for item in asked.input] == [
        ("user", "Find Jun."),
        ("assistant", 'CALL find {"name": "Jun"}'),
        ("user", "RESULT jun@x.example"),
    ]


def test_a_request_without_tools_is_passed_on_as_it_is() -> None:
    model = Scripted("hello")
    request = Request(input=[user_message("hi")])
    asyncio.run(TextToolModel(model).ask(request))

    assert model.asked == [request]
