"""Makes the office tasks: 21 requests, each over two desks of their own, with the calls that carry them out.

A desk (contacts, events, mails, orders) is drawn from a seed; a request is told over it. Run it to write
`data/office_desk.jsonl`; it writes the same bytes every time.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from blade.benchmarks.making import Dice, taking_turns, write_tasks

SEED = "office-desk-49"
TOLD = 2
"""How many desks there are for each request."""

TODAY = "Monday, 2025-03-10"
DAYS = ["2025-03-11", "2025-03-12", "2025-03-13"]
FIRST = ["Ada", "Ben", "Cleo", "Dina", "Egon", "Fina", "Gert", "Hilde"]
LAST = ["Arndt", "Bloom", "Craig", "Doyle", "Engel", "Frost", "Gruber", "Hauge"]
TEAMS = ["Sales", "Design", "Support"]
TITLES = ["Budget review", "Team lunch", "Design talk", "Client call", "Interview", "Training"]
COMPANIES = ["Alder Ltd", "Birch Ltd", "Cedar Ltd"]
PRODUCTS = ["desks", "lamps", "chairs", "shelves"]
SUBJECTS = ["Parking", "Holidays", "Printer", "Coffee machine"]

Row = dict[str, Any]


class Desk(NamedTuple):
    """Where a request is made."""

    dice: Dice
    contacts: list[Row]
    events: list[Row]
    mails: list[Row]
    records: list[Row]

    @property
    def state(self) -> dict[str, list[Row]]:
        return {"contacts": self.contacts, "events": self.events, "mails": self.mails, "records": self.records}


class Asked(NamedTuple):
    """A request, and the calls that carry it out."""

    request: str
    calls: list[Row]
    answer: str | None = None
    body_words: list[str] | None = None
    """What the body of a mail must hold, where its wording is free."""


class Request(NamedTuple):
    kind: str
    difficulty: str
    ask: Callable[[Desk], Asked]


REQUESTS: list[Request] = []


def request(kind: str, difficulty: str) -> Callable[[Callable[[Desk], Asked]], Callable[[Desk], Asked]]:
    def keep(ask: Callable[[Desk], Asked]) -> Callable[[Desk], Asked]:
        REQUESTS.append(Request(kind, difficulty, ask))
        return ask

    return keep


def call(tool: str, **arguments: Any) -> Row:
    return {"name": tool, "arguments": arguments}


def make_desk(dice: Dice) -> Desk:
    names = [f"{a} {b}" for a, b in zip(dice.sample("first", FIRST, 5), dice.sample("last", LAST, 5), strict=True)]
    # Two people share a first name, so a first name alone may mean either.
    names.append(f"{names[0].split()[0]} {dice.sample('last', LAST, 6)[5]}")
    contacts = [
        {
            "name": name,
            "email": f"{name.lower().replace(' ', '.')}@office.example",
            "phone": f"555-03{10 + 14 * place + dice.number(name, 0, 13):02d}",
            "team": TEAMS[place % 3],
        }
        for place, name in enumerate(names)
    ]
    return Desk(dice, contacts, make_events(dice, contacts), make_mails(dice, contacts), make_records(dice))


def make_events(dice: Dice, contacts: list[Row]) -> list[Row]:
    """Five events on three days, of an hour each; the first day is busy at nine and at one more hour."""
    slots = [(0, "09"), (0, dice.choice("slot", ["10", "11"])), (1, "10"), (1, "15"), (2, "13")]
    titles = dice.sample("titles", TITLES, 5)
    return [
        {
            "id": f"e{number}",
            "title": title,
            "date": DAYS[day],
            "start": f"{hour}:00",
            "end": f"{int(hour) + 1:02d}:00",
            "attendees": sorted(contacts[1 + (number + step) % 4]["email"] for step in range(1 + number % 2)),
        }
        for number, (title, (day, hour)) in enumerate(zip(titles, slots, strict=True), start=1)
    ]


def make_mails(dice: Dice, contacts: list[Row]) -> list[Row]:
    subjects = dice.sample("subjects", SUBJECTS, 3)
    rows = [
        {"from": contacts[1]["name"], "subject": subjects[0], "body": "Is there any news?"},
        {"from": contacts[2]["name"], "subject": subjects[1], "body": "This is just for your information."},
        {"from": contacts[1]["name"], "subject": subjects[2], "body": "Please see the notice in the kitchen."},
        {
            "from": contacts[3]["name"],
            "subject": "Question",
            "body": f"Hello, could you please tell me the phone number of {contacts[4]['name']}?",
        },
    ]
    return [{"id": f"m{number}", "folder": "inbox", **row} for number, row in enumerate(rows, start=1)]


def make_records(dice: Dice) -> list[Row]:
    """Six orders of three customers, two of each; the first customer's are both open."""
    products = dice.sample("products", PRODUCTS, 2)
    statuses = ["open", "open", "paid", "open", "shipped", "paid"]
    return [
        {
            "id": f"r{number + 1}",
            "customer": COMPANIES[number // 2],
            "product": products[number % 2],
            "status": statuses[number],
            "amount": 10 * dice.number(f"amount/{number}", 5, 60),
        }
        for number in range(6)
    ]


@request("lookup", "easy")
def phone(desk: Desk) -> Asked:
    who = desk.contacts[desk.dice.number("who", 1, 4)]
    return Asked(f"What is the phone number of {who['name']}?", [call("find_contact", name=who["name"])], who["phone"])


@request("calendar", "easy")
def lunch(desk: Desk) -> Asked:
    title, day = desk.dice.choice("title", ["Lunch", "Yoga", "Dentist"]), desk.dice.choice("day", DAYS)
    text = f"Please add an event called {title} on {day} from 17:00 to 18:00."
    return Asked(text, [call("add_event", title=title, date=day, start="17:00", end="18:00")])


@request("mail", "easy")
def late(desk: Desk) -> Asked:
    who, wait = desk.contacts[desk.dice.number("who", 1, 4)], desk.dice.choice("wait", ["ten", "twenty"])
    body = f"I am {wait} minutes late."
    text = f'Send a mail to {who["email"]} with the subject "Late" and the text "{body}"'
    return Asked(text, [call("send_mail", to=who["email"], subject="Late", body=body)])


@request("records", "easy")
def set_status(desk: Desk) -> Asked:
    name, status = desk.dice.choice("record", ["r1", "r2", "r4"]), desk.dice.choice("status", ["paid", "shipped"])
    text = f"Set the status of the order with the id {name} to {status}."
    return Asked(text, [call("update_record", record_id=name, field="status", value=status)])


@request("combined", "medium")
def kick_off(desk: Desk) -> Asked:
    who, day = desk.contacts[desk.dice.number("who", 1, 4)], desk.dice.choice("day", DAYS)
    text = f"Add an event called Kick-off on {day} from 16:00 to 17:00 and invite {who['name']}."
    event = call("add_event", title="Kick-off", date=day, start="16:00", end="17:00", attendees=[who["email"]])
    return Asked(text, [call("find_contact", name=who["name"]), event])


@request("lookup", "easy")
def event_time(desk: Desk) -> Asked:
    event = desk.dice.choice("event", desk.events)
    text = f"At what time does the event {event['title']} start on {event['date']}?"
    return Asked(text, [call("list_events", date=event["date"])], event["start"])


@request("calendar", "medium")
def cancel(desk: Desk) -> Asked:
    event = desk.dice.choice("event", desk.events)
    text = f"Please cancel the event {event['title']} on {event['date']}."
    return Asked(text, [call("list_events", date=event["date"]), call("cancel_event", event_id=event["id"])])


@request("mail", "medium")
def delete(desk: Desk) -> Asked:
    mail = desk.mails[desk.dice.choice("mail", [0, 2])]
    text = f'Delete the mail from {mail["from"]} about "{mail["subject"]}".'
    return Asked(text, [call("list_mails", sender=mail["from"]), call("delete_mail", mail_id=mail["id"])])


@request("records", "medium")
def shipped(desk: Desk) -> Asked:
    record = desk.records[desk.dice.choice("record", [0, 1, 3])]
    text = f"The {record['product']} for {record['customer']} have left the house. Set that order's status to shipped."
    update = call("update_record", record_id=record["id"], field="status", value="shipped")
    return Asked(text, [call("find_records", customer=record["customer"]), update])


@request("combined", "hard")
def ill(desk: Desk) -> Asked:
    event = desk.dice.choice("event", [row for row in desk.events if len(row["attendees"]) == 1])
    who = next(row for row in desk.contacts if row["email"] in event["attendees"])
    text = (
        f"{who['name']} is ill. Cancel the event {event['title']} on {event['date']}, and send {who['name']} a mail "
        'with the subject "Get well" and the text "Get well soon."'
    )
    calls = [call("list_events", date=event["date"]), call("cancel_event", event_id=event["id"])]
    mail = call("send_mail", to=who["email"], subject="Get well", body="Get well soon.")
    return Asked(text, [*calls, call("find_contact", name=who["name"]), mail])


@request("lookup", "medium")
def amount(desk: Desk) -> Asked:
    record = desk.dice.choice("record", desk.records)
    text = f"What is the amount of the order of {record['product']} by {record['customer']}?"
    return Asked(text, [call("find_records", customer=record["customer"])], str(record["amount"]))


@request("calendar", "medium")
def move(desk: Desk) -> Asked:
    event, start = desk.dice.choice("event", desk.events[2:]), desk.dice.choice("start", ["08:00", "14:00", "17:00"])
    text = f"Move the event {event['title']} on {event['date']} to {start} on the same day."
    moved = call("move_event", event_id=event["id"], date=event["date"], start=start)
    return Asked(text, [call("list_events", date=event["date"]), moved])


@request("mail", "medium")
def write_to(desk: Desk) -> Asked:
    who = desk.contacts[desk.dice.number("who", 1, 4)]
    subject, body = desk.dice.choice(
        "text", [("Keys", "Your keys are on my desk."), ("Cake", "There is cake at four.")]
    )
    text = f'Send {who["name"]} a mail with the subject "{subject}" and the text "{body}"'
    mail = call("send_mail", to=who["email"], subject=subject, body=body)
    return Asked(text, [call("find_contact", name=who["name"]), mail])


@request("records", "medium")
def new_amount(desk: Desk) -> Asked:
    record, value = desk.dice.choice("record", desk.records), str(5 + 10 * desk.dice.number("value", 70, 99))
    text = f"Change the amount of the order of {record['product']} by {record['customer']} to {value}."
    update = call("update_record", record_id=record["id"], field="amount", value=value)
    return Asked(text, [call("find_records", customer=record["customer"]), update])


@request("combined", "hard")
def moved_mail(desk: Desk) -> Asked:
    event = desk.dice.choice("event", [row for row in desk.events if len(row["attendees"]) == 2])
    text = (
        f"Move the event {event['title']} from {event['date']} to 2025-03-14 at the same time, and send each of its "
        'attendees a mail with the subject "Moved" that says the new date as 2025-03-14.'
    )
    calls = [
        call("list_events", date=event["date"]),
        call("move_event", event_id=event["id"], date="2025-03-14", start=event["start"]),
    ]
    body = f"{event['title']} is moved to 2025-03-14."
    mails = [call("send_mail", to=address, subject="Moved", body=body) for address in event["attendees"]]
    return Asked(text, calls + mails, body_words=["2025-03-14"])


@request("lookup", "medium")
def same_name(desk: Desk) -> Asked:
    who = desk.contacts[desk.dice.choice("who", [0, 5])]
    first = who["name"].split()[0]
    text = f"Two of our people are called {first}. What is the mail address of the one in team {who['team']}?"
    return Asked(text, [call("find_contact", name=first)], who["email"])


@request("calendar", "hard")
def first_free(desk: Desk) -> Asked:
    busy = {row["start"] for row in desk.events if row["date"] == DAYS[0]}
    free = next(hour for hour in (9, 10, 11) if f"{hour:02d}:00" not in busy)
    title = desk.dice.choice("title", ["Focus time", "Reading hour"])
    text = (
        f"Find the first free hour on {DAYS[0]} that starts at 09:00 or later and put an event called {title} there. "
        "It starts on the hour and lasts one hour."
    )
    event = call("add_event", title=title, date=DAYS[0], start=f"{free:02d}:00", end=f"{free + 1:02d}:00")
    return Asked(text, [call("list_events", date=DAYS[0]), event])


@request("mail", "hard")
def reply(desk: Desk) -> Asked:
    sender, wanted = desk.contacts[3], desk.contacts[4]
    text = (
        f'Read the mail from {sender["name"]} with the subject "Question" and send {sender["name"]} an answer with the '
        'subject "Answer" that says what was asked for.'
    )
    calls = [
        *(call("list_mails", sender=sender["name"]), call("read_mail", mail_id="m4")),
        *(call("find_contact", name=wanted["name"]), call("find_contact", name=sender["name"])),
        call("send_mail", to=sender["email"], subject="Answer", body=f"The number is {wanted['phone']}."),
    ]
    return Asked(text, calls, body_words=[wanted["phone"]])


@request("records", "hard")
def close_all(desk: Desk) -> Asked:
    status, customer = desk.dice.choice(
        "case", [("open", COMPANIES[0]), ("paid", COMPANIES[1]), ("paid", COMPANIES[2])]
    )
    hit = [row for row in desk.records if row["customer"] == customer and row["status"] == status]
    text = f"Set the status of every {status} order of {customer} to closed. Leave its other orders as they are."
    updates = [call("update_record", record_id=row["id"], field="status", value="closed") for row in hit]
    return Asked(text, [call("find_records", customer=customer), *updates])


@request("combined", "hard")
def reminder(desk: Desk) -> Asked:
    record, who = desk.records[desk.dice.choice("record", [0, 2, 3, 5])], desk.contacts[desk.dice.number("who", 1, 4)]
    text = (
        f"{record['customer']} ordered {record['product']}. Look at that order. If it is still open, send "
        f'{who["name"]} a mail with the subject "Reminder" and the text "Please call the customer." If it is paid, '
        "set its status to closed."
    )
    calls = [call("find_records", customer=record["customer"])]
    if record["status"] == "open":
        mail = call("send_mail", to=who["email"], subject="Reminder", body="Please call the customer.")
        return Asked(text, [*calls, call("find_contact", name=who["name"]), mail])
    return Asked(text, [*calls, call("update_record", record_id=record["id"], field="status", value="closed")])


@request("lookup", "hard")
def open_orders(desk: Desk) -> Asked:
    first, second = desk.dice.sample("customers", COMPANIES, 2)
    total = sum(row["amount"] for row in desk.records if row["customer"] in (first, second) and row["status"] == "open")
    text = f"What do the open orders of {first} and {second} amount to in all? Answer with the sum."
    calls = [call("find_records", customer=name) for name in (first, second)]
    return Asked(text, calls, str(total))


def task(number: int, row: dict[str, Any]) -> dict[str, Any]:
    told: Request = row["request"]
    desk = make_desk(Dice(SEED, row["name"], row["copy"]))
    asked = told.ask(desk)
    return {
        "task_id": f"od{number:02d}-{row['name'].replace('_', '-')}",
        "kind": told.kind,
        "difficulty": told.difficulty,
        "today": TODAY,
        "request": asked.request,
        "state": desk.state,
        "calls": asked.calls,
        "expected_answer": asked.answer,
        "body_words": asked.body_words,
    }


def prepare(output_dir: Path = Path(__file__).parent / "data") -> Path:
    rows = [
        {"request": told, "name": told.ask.__name__, "copy": copy, "kind": told.kind}
        for copy in range(TOLD)
        for told in REQUESTS
    ]
    tasks = [task(number, row) for number, row in enumerate(taking_turns(rows, "kind"), start=1)]
    return write_tasks(Path(output_dir) / "office_desk.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
