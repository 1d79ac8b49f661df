"""Tasks around mail: write to a colleague, and summarise what came in."""

from dataclasses import dataclass
from typing import ClassVar

from demo_data.courses import Call, Course
from demo_data.dice import Dice

DOMAIN = "hollisvarga.example"
PAGE = 3


@dataclass(frozen=True, kw_only=True)
class Mail:
    """Write to a colleague. Planted mistake: the address is guessed, and the directory has another one."""

    category: ClassVar[str] = "mail"
    check: ClassVar[str] = "mail_sent_to"
    tools: ClassVar[tuple[str, ...]] = ("find_contact", "send_mail")
    person: str
    team: str
    address: str
    subject: str
    point: str
    namesakes: tuple[tuple[str, str], ...] = ()
    """Team and address of others with the same name."""

    @property
    def request(self) -> str:
        who = f"{self.person} from {self.team}"
        return Dice(self.subject).choice(
            "request",
            (
                f"Let {who} know by mail that {self.point}. Subject: “{self.subject}”.",
                f"Could you mail {who}? The subject is “{self.subject}”, and the message is that {self.point}.",
                f"Please write to {who}, subject “{self.subject}”, to say that {self.point}.",
            ),
        )

    @property
    def expected(self) -> str:
        return self.address

    def right(self, dice: Dice) -> Course:
        people = [*self.namesakes, (self.team, self.address)]
        matches = [{"name": self.person, "team": team, "email": email} for team, email in people]
        lookup = Call("find_contact", {"name": self.person}, {"matches": matches})
        thought = dice.choice(
            "thought", ("I need the address from the directory first.", "Look up the contact, then write.")
        )
        return Course(thought, [lookup, self.send(self.address, dice)], self.report(self.address, dice), self.address)

    def slip(self, dice: Dice) -> Course:
        guess = f"{self.person.lower().replace(' ', '.')}@{DOMAIN}"
        thought = dice.choice(
            "thought",
            (
                "Addresses here are usually first.last, so I can skip the lookup.",
                "The address is easy to guess; send it now.",
            ),
        )
        return Course(thought, [self.send(guess, dice)], self.report(guess, dice), guess)

    def send(self, address: str, dice: Dice) -> Call:
        first = self.person.split()[0]
        body = dice.choice(
            "body",
            (
                f"Hi {first}, a short note: {self.point}. Best regards",
                f"Hello {first}, {self.point}. Thanks!",
                f"Hi {first}, just so you know, {self.point}.",
                f"Dear {first}, I was asked to tell you that {self.point}. Kind regards",
            ),
        )
        arguments = {"to": address, "subject": self.subject, "body": body}
        return Call("send_mail", arguments, {"status": "sent", "mail_id": f"m-{dice.number('mail', 4000, 4999)}"})

    def report(self, address: str, dice: Dice) -> str:
        first = self.person.split()[0]
        return dice.choice(
            "says",
            (
                f"Done. I wrote to {self.person} ({address}) with the subject “{self.subject}”.",
                f"The mail to {first} is on its way to {address}.",
                f"I have let {first} know at {address} that {self.point}.",
                f"Sent to {address}, subject “{self.subject}”. Anything else?",
            ),
        )


@dataclass(frozen=True, kw_only=True)
class Inbox:
    """Summarise mails on a topic. Planted mistake: only the first page of results is read."""

    category: ClassVar[str] = "inbox"
    check: ClassVar[str] = "answer_equals"
    tools: ClassVar[tuple[str, ...]] = ("search_mail", "read_mail")
    topic: str
    mails: tuple[tuple[str, str], ...]
    """Sender and subject, oldest first."""
    newest: str
    """What the newest mail says."""

    @property
    def request(self) -> str:
        return Dice(self.topic).choice(
            "request",
            (
                f"Summarise the mails about {self.topic}. How many are there, and what does the newest one say?",
                f"What is new about {self.topic} in my inbox? Give me the number of mails and the gist of the newest.",
                f"How many mails did I get about {self.topic}, and where does it stand now?",
            ),
        )

    @property
    def expected(self) -> str:
        return str(len(self.mails))

    def right(self, dice: Dice) -> Course:
        pages = range(1, self.pages + 1)
        newest = Call("read_mail", {"mail_id": f"m-{100 + len(self.mails)}"}, {"body": self.newest})
        calls = [*(self.search(page) for page in pages), newest]
        return Course(
            "Go through every page of results, then open the newest.",
            calls,
            self.report(len(self.mails), dice),
            self.expected,
        )

    def slip(self, dice: Dice) -> Course:
        count = min(PAGE, len(self.mails) - 1)
        newest = Call("read_mail", {"mail_id": f"m-{100 + len(self.mails)}"}, {"body": self.newest})
        return Course("The first page has what I need.", [self.search(1), newest], self.report(count, dice), str(count))

    @property
    def pages(self) -> int:
        return -(-len(self.mails) // PAGE)

    def search(self, page: int) -> Call:
        listed = [{"id": f"m-{100 + n}", "from": who, "subject": about} for n, (who, about) in enumerate(self.mails, 1)]
        shown = listed[::-1][PAGE * (page - 1) : PAGE * page]
        result = {"page": page, "pages": self.pages, "mails": shown}
        return Call("search_mail", {"query": self.topic, "page": page}, result)

    def report(self, count: int, dice: Dice) -> str:
        sender = self.mails[-1][0]
        said = dice.choice(
            "says",
            (
                f"I found {count} mails about {self.topic}. The newest, from {sender}: {self.newest}",
                f"{sender} wrote last: {self.newest} In all there are {count} mails on {self.topic}.",
                f"Your inbox has {count} mails on {self.topic}. Latest news ({sender}): {self.newest}",
                f"{count} mails in total. The last word is from {sender}: {self.newest}",
            ),
        )
        return f"{said}\nAnswer: {count}"
