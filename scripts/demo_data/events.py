"""Tasks around the calendar: book a meeting, and move an event."""

from dataclasses import dataclass
from typing import ClassVar

from demo_data.courses import Call, Course
from demo_data.dice import Dice


@dataclass(frozen=True, kw_only=True)
class Meeting:
    """Book a meeting. Planted mistake: the calendar is not looked at, and the wanted hour is taken."""

    category: ClassVar[str] = "scheduling"
    check: ClassVar[str] = "event_created_at"
    tools: ClassVar[tuple[str, ...]] = ("find_contact", "list_events", "create_event")
    person: str
    address: str
    title: str
    date: str
    wanted: str
    free: str
    busy: tuple[tuple[str, str, str], ...]
    """Title, start and end of what is in the calendar."""

    @property
    def request(self) -> str:
        who, what, when = self.person, self.title, f"{self.date} at {self.wanted}"
        return Dice(self.title).choice(
            "request",
            (
                f"Book 30 minutes “{what}” with {who} on {when}, or at the next free half hour.",
                f"I need half an hour with {who} on {when} for “{what}”. If that is taken, take the next free one.",
                f"Set up “{what}” (30 minutes, {who}) for {when}, or the first free slot of that day after it.",
            ),
        )

    @property
    def expected(self) -> str:
        return f"{self.date}T{self.free}"

    def lookup(self) -> Call:
        return Call("find_contact", {"name": self.person}, {"matches": [{"name": self.person, "email": self.address}]})

    def right(self, dice: Dice) -> Course:
        events = [{"title": title, "start": start, "end": end} for title, start, end in self.busy]
        calendar = Call("list_events", {"date": self.date}, {"events": events})
        calls = [self.lookup(), calendar, self.create(self.free, [], dice=dice)]
        return Course(
            f"Check whether {self.wanted} is free before booking.", calls, self.report(self.free, dice), self.expected
        )

    def slip(self, dice: Dice) -> Course:
        overlaps = [title for title, start, end in self.busy if start <= self.wanted < end]
        calls = [self.lookup(), self.create(self.wanted, overlaps, dice=dice)]
        thought = f"The request names {self.wanted}, so I book that."
        return Course(thought, calls, self.report(self.wanted, dice), f"{self.date}T{self.wanted}")

    def create(self, start: str, overlaps: list[str], *, dice: Dice) -> Call:
        arguments = {"title": self.title, "start": f"{self.date}T{start}", "minutes": 30, "attendee": self.address}
        result = {"event_id": f"ev-{dice.number('event', 600, 999)}", "status": "created", "overlaps": overlaps}
        return Call("create_event", arguments, result)

    def report(self, start: str, dice: Dice) -> str:
        return dice.choice(
            "says",
            (
                f"“{self.title}” with {self.person} is booked for {self.date} at {start}.",
                f"I booked half an hour with {self.person} at {start} on {self.date} and sent the invitation.",
                f"All set: {self.date}, {start}, “{self.title}”. {self.person} is invited.",
                f"You meet {self.person} on {self.date} from {start} for 30 minutes.",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Move:
    """Move an event. Planted mistake: another event with nearly the same name is moved."""

    category: ClassVar[str] = "calendar"
    check: ClassVar[str] = "event_moved_to"
    tools: ClassVar[tuple[str, ...]] = ("list_events", "move_event")
    title: str
    event: str
    date: str
    start: str
    to: str
    others: tuple[tuple[str, str, str], ...]
    """Id, title and start of the other events of that day; the first is the one that is mistaken for it."""

    @property
    def request(self) -> str:
        to = self.to.replace("T", " at ")
        return Dice(self.title).choice(
            "request",
            (
                f"Please move “{self.title}” on {self.date} to {to}.",
                f"“{self.title}” on {self.date} does not suit me. Can you put it on {to}?",
                f"Reschedule “{self.title}” ({self.date}) to {to}.",
            ),
        )

    @property
    def expected(self) -> str:
        return f"{self.event} {self.to}"

    def right(self, dice: Dice) -> Course:
        return self.course(self.event, "Find the id of the event, then move it.", dice=dice)

    def slip(self, dice: Dice) -> Course:
        event, title, _ = self.others[0]
        return self.course(event, f"“{title}” looks like the one; move it.", dice=dice)

    def course(self, event: str, thought: str, *, dice: Dice) -> Course:
        day = [*self.others, (self.event, self.title, self.start)]
        events = [{"id": one, "title": title, "start": start} for one, title, start in sorted(day, key=lambda e: e[2])]
        calls = [
            Call("list_events", {"date": self.date}, {"events": events}),
            Call("move_event", {"event_id": event, "start": self.to}, {"status": "moved", "event_id": event}),
        ]
        return Course(thought, calls, self.report(event, dice), f"{event} {self.to}")

    def report(self, event: str, dice: Dice) -> str:
        when = self.to.replace("T", " at ")
        return dice.choice(
            "says",
            (
                f"I moved {event} to {when}.",
                f"“{self.title}” is now on {when} (event {event}).",
                f"Done: “{self.title}” ({event}) now starts on {when}.",
                f"{event} has a new time, {when}. The attendees see the change in their calendars.",
            ),
        )
