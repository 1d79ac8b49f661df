"""The tools of the desk as a model is told of them, and what is asked of arguments before anything is done."""

import json
from typing import Any

TEXT = {"type": "string"}
DATE = {"type": "string", "description": "YYYY-MM-DD"}
TIME = {"type": "string", "description": "HH:MM"}
TEXTS = {"type": "array", "items": {"type": "string"}}


def tool(name: str, description: str, properties: dict[str, Any], optional: tuple[str, ...] = ()) -> dict[str, Any]:
    """A function tool in the form of OpenAI Responses."""
    return {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": {
            "type": "object",
            "properties": properties,
            "required": [field for field in properties if field not in optional],
            "additionalProperties": False,
        },
        "strict": False,
    }


TOOLS: list[dict[str, Any]] = [
    tool("find_contact", "Find contacts by name: their mail address, phone number and team.", {"name": TEXT}),
    tool("list_events", "List the events of a day, with their ids and attendees.", {"date": DATE}),
    tool(
        "add_event",
        "Add an event to the calendar. Attendees are mail addresses.",
        {"title": TEXT, "date": DATE, "start": TIME, "end": TIME, "attendees": TEXTS},
        optional=("attendees",),
    ),
    tool(
        "move_event",
        "Move an event to another date or start time; it keeps its length.",
        {"event_id": TEXT, "date": DATE, "start": TIME},
    ),
    tool("cancel_event", "Cancel an event.", {"event_id": TEXT}),
    tool(
        "list_mails",
        "List the mails in the inbox: id, sender and subject; of one sender, if one is named.",
        {"sender": TEXT},
        optional=("sender",),
    ),
    tool("read_mail", "Read a mail.", {"mail_id": TEXT}),
    tool("send_mail", "Send a mail to one mail address.", {"to": TEXT, "subject": TEXT, "body": TEXT}),
    tool("delete_mail", "Delete a mail.", {"mail_id": TEXT}),
    tool("find_records", "Find the orders of a customer: id, product, status and amount.", {"customer": TEXT}),
    tool(
        "update_record",
        "Change the status (open, paid, shipped or closed) or the amount of an order.",
        {"record_id": TEXT, "field": {"type": "string", "enum": ["status", "amount"]}, "value": TEXT},
    ),
]

MOST_TEXT = 5000

PARAMETERS: dict[str, dict[str, Any]] = {made["name"]: made["parameters"] for made in TOOLS}


def check_arguments(name: str, arguments: str) -> dict[str, Any]:
    """The arguments of a call; raises `ValueError` with a sentence for the caller when the tool does not take them."""
    if name not in PARAMETERS:
        raise ValueError(f"there is no tool called {name}; there are {', '.join(PARAMETERS)}")
    given = decoded(arguments)
    properties, required = PARAMETERS[name]["properties"], PARAMETERS[name]["required"]
    if unknown := sorted(set(given) - set(properties)):
        raise ValueError(f"unexpected argument: {', '.join(unknown)}; {name} takes {', '.join(properties)}")
    if missing := [field for field in required if given.get(field) is None]:
        raise ValueError(f"missing required argument: {', '.join(missing)}")
    return {field: converted(field, value, properties[field]) for field, value in given.items() if value is not None}


def decoded(arguments: str) -> dict[str, Any]:
    try:
        given = json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        # Models read these words; other words would make another benchmark than the one shipped rollouts were made on.
        raise ValueError("invalid arguments: they are no JSON") from None
    if not isinstance(given, dict):
        raise ValueError("invalid arguments: they must be a JSON object")
    return given


def converted(field: str, value: Any, wanted: dict[str, Any]) -> Any:
    """An argument of the wanted type; a number is taken where a text is wanted, as models give ids and amounts."""
    if wanted["type"] == "array":
        if not isinstance(value, list) or not all(isinstance(inner, str) for inner in value):
            raise ValueError(f"invalid argument {field}: it must be a list of texts")
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str) or len(value) > MOST_TEXT:
        raise ValueError(f"invalid argument {field}: it must be a text of at most {MOST_TEXT} letters")
    if "enum" in wanted and value not in wanted["enum"]:
        raise ValueError(f"invalid argument {field}: it must be one of {', '.join(wanted['enum'])}")
    return value
