"""The desk: a state of contacts, events, mails and records, and what each tool does to it.

A call that cannot be made changes nothing and answers with `{"error": ...}`, which says what to do instead.
"""

import copy
import datetime
import json
import re
from collections.abc import Callable, Mapping
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


Row = dict[str, Any]

STATUSES = ["open", "paid", "shipped", "closed"]


class CallError(Exception):
    """A call cannot be made; the message is told to the caller."""


class Desk:
    """One rollout's desk. The state it was given is never changed."""

    def __init__(self, state: Mapping[str, list[Row]]) -> None:
        self.state: dict[str, list[Row]] = copy.deepcopy(dict(state))
        self.made = 0

    def call(self, name: str, arguments: str) -> str:
        """What a tool answers, as JSON text."""
        return json.dumps(self.answer(name, arguments))

    def answer(self, name: str, arguments: str) -> Any:
        """What a tool answers; everything wrong with a call is an answer too."""
        try:
            given = check_arguments(name, arguments)
            action: Callable[..., Any] = getattr(self, name)
            return action(**given)
        except (CallError, ValueError) as error:
            return {"error": str(error)}

    def find_contact(self, name: str) -> Any:
        return [row for row in self.state["contacts"] if plain(name) in plain(row["name"])]

    def list_events(self, date: str) -> Any:
        require_date(date)
        return sorted((row for row in self.state["events"] if row["date"] == date), key=lambda row: str(row["start"]))

    def add_event(self, title: str, date: str, start: str, end: str, attendees: list[str] | None = None) -> Any:
        require_date(date)
        if minutes(start) >= minutes(end):
            raise CallError(f"the event must end after it starts, and {end} is not after {start}")
        times = {"start": clock(minutes(start)), "end": clock(minutes(end))}
        row = {"id": self.new_id("e"), "title": title, "date": date, **times}
        self.state["events"].append({**row, "attendees": list(attendees or [])})
        return {"ok": True, "event_id": row["id"]}

    def move_event(self, event_id: str, date: str, start: str) -> Any:
        require_date(date)
        row = self.row_of("events", event_id)
        length = minutes(row["end"]) - minutes(row["start"])
        begin = minutes(start)
        row.update(date=date, start=clock(begin), end=clock(begin + length))
        return {"ok": True, "event": row}

    def cancel_event(self, event_id: str) -> Any:
        self.state["events"].remove(self.row_of("events", event_id))
        return {"ok": True}

    def list_mails(self, sender: str = "") -> Any:
        rows = [row for row in self.state["mails"] if row["folder"] == "inbox" and plain(sender) in plain(row["from"])]
        return [{key: row[key] for key in ("id", "from", "subject")} for row in rows]

    def read_mail(self, mail_id: str) -> Any:
        return self.row_of("mails", mail_id)

    def send_mail(self, to: str, subject: str, body: str) -> Any:
        if not re.fullmatch(r"[^@\s]+@[^@\s]+", to.strip()):
            raise CallError(f"{to} is no mail address; find_contact knows addresses")
        row = {"id": self.new_id("m"), "folder": "sent", "from": "me", "to": to.strip(), "subject": subject}
        self.state["mails"].append({**row, "body": body})
        return {"ok": True, "mail_id": row["id"]}

    def delete_mail(self, mail_id: str) -> Any:
        self.state["mails"].remove(self.row_of("mails", mail_id))
        return {"ok": True}

    def find_records(self, customer: str) -> Any:
        return [row for row in self.state["records"] if plain(customer) in plain(row["customer"])]

    def update_record(self, record_id: str, field: str, value: str) -> Any:
        row = self.row_of("records", record_id)
        if field == "status" and value not in STATUSES:
            raise CallError(f"status must be one of {', '.join(STATUSES)}, not {value}")
        if field == "amount" and not re.fullmatch(r"\d+", value):
            raise CallError(f"amount must be a whole number, not {value}")
        row[field] = int(value) if field == "amount" else value
        return {"ok": True, "record": row}

    def row_of(self, table: str, name: str) -> Row:
        for row in self.state[table]:
            if row["id"] == plain(name):
                return row
        raise CallError(f"there is no {table[:-1]} with the id {name}")

    def new_id(self, letter: str) -> str:
        """An id that no row has; those that are given later differ from all given before."""
        self.made += 1
        return f"{letter}{100 + self.made}"


def plain(text: str) -> str:
    """A text without case, and with single spaces."""
    return " ".join(text.casefold().split())


def require_date(date: str) -> None:
    try:
        right = datetime.date.fromisoformat(date).isoformat() == date
    except ValueError:
        right = False
    if not right:
        raise CallError(f"{date} is not a date; write it as YYYY-MM-DD")


def minutes(time: str) -> int:
    """Minutes since midnight."""
    found = re.fullmatch(r"(\d{1,2}):(\d{2})", time.strip())
    if not found or int(found[1]) > 23 or int(found[2]) > 59:
        raise CallError(f"{time} is no time; write it as HH:MM")
    return 60 * int(found[1]) + int(found[2])


def clock(since_midnight: int) -> str:
    if since_midnight >= 24 * 60:
        raise CallError("the event would end after midnight")
    return f"{since_midnight // 60:02d}:{since_midnight % 60:02d}"


assert all(hasattr(Desk, tool["name"]) for tool in TOOLS)
