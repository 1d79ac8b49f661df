"""Tasks around customer records: change one field of one record."""

from dataclasses import dataclass
from typing import Any, ClassVar

from demo_data.courses import Call, Course
from demo_data.dice import Dice


@dataclass(frozen=True, kw_only=True)
class Record:
    """Change a customer record. Planted mistake: a value in the wrong form, which the tool may reject."""

    category: ClassVar[str] = "records"
    check: ClassVar[str] = "record_value"
    tools: ClassVar[tuple[str, ...]] = ("find_record", "update_record")
    company: str
    record: str
    wish: str
    field: str
    old: str
    value: str
    mistaken: str = ""
    rejection: str = ""
    """The tool's error for the mistaken value; empty when the tool takes it."""

    @property
    def request(self) -> str:
        return Dice(self.record).choice(
            "request",
            (
                f"{self.wish} Update the record of {self.company} in the CRM.",
                f"News from {self.company}: {self.wish[0].lower()}{self.wish[1:]} Please keep our records current.",
                f"About {self.company}. {self.wish} Change it in our records.",
            ),
        )

    @property
    def expected(self) -> str:
        return f"{self.field}={self.value}"

    def right(self, dice: Dice) -> Course:
        return self.course(self.value, {"status": "ok", self.field: self.value}, dice=dice)

    def slip(self, dice: Dice) -> Course:
        result = {"error": self.rejection} if self.rejection else {"status": "ok", self.field: self.mistaken}
        return self.course(self.mistaken, result, dice=dice)

    def course(self, value: str, result: dict[str, Any], *, dice: Dice) -> Course:
        found = {"record_id": self.record, "company": self.company, self.field: self.old}
        calls = [
            Call("find_record", {"company": self.company}, found),
            Call("update_record", {"record_id": self.record, "field": self.field, "value": value}, result),
        ]
        stored = self.old if "error" in result else value
        return Course(f"Set {self.field} on {self.record}.", calls, self.report(value, dice), f"{self.field}={stored}")

    def report(self, value: str, dice: Dice) -> str:
        return dice.choice(
            "says",
            (
                f"I updated {self.company}: {self.field} is now {value}.",
                f"Done. The {self.field} of {self.company} ({self.record}) is set to {value}.",
                f"The record of {self.company} is up to date ({self.field}: {value}).",
                f"{self.record} ({self.company}) now says {self.field} = {value}.",
            ),
        )
