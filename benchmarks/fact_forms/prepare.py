"""Makes the texts and the forms to fill from them: 16 forms, each for three different texts.

A form draws the facts, writes the text from them, and knows the object that says them. Run it to write
`data/fact_forms.jsonl`; it writes the same bytes every time.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from blade.benchmarks.making import Dice, taking_turns, write_tasks

SEED = "fact-forms-156"
TOLD = 3
"""How many texts there are for each form."""

FIRST = ["Ada", "Bela", "Carl", "Dora", "Emil", "Fay", "Gus", "Hugo", "Ines", "Jana", "Kurt", "Lara", "Milo", "Nora"]
LAST = ["Adler", "Berg", "Conti", "Duval", "Eriksen", "Fuchs", "Grant", "Holm", "Ibsen", "Jansen", "Kowal", "Lund"]
CITIES = ["Bergen", "Ghent", "Lyon", "Porto", "Turin", "Graz", "Cork", "Leeds"]
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
FURNITURE = {"chairs": 45, "lamps": 32, "shelves": 58, "desks": 120}
MENU = {"pizzas": 9, "salads": 6, "soups": 5, "pies": 7, "burgers": 8}
PETS = ["Mimi", "Rex", "Kiwi", "Bruno", "Olive", "Pepper"]
MONTHS = ["March", "April", "May", "June", "July", "August", "September"]

TEXT = {"type": "string"}
COUNT = {"type": "integer"}
FLAG = {"type": "boolean"}
MAYBE = {"type": ["string", "null"]}
DATE = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
TIME = {"type": "string", "pattern": r"^\d{2}:\d{2}$"}
NUMBER = {"type": "number"}
MAYBE_COUNT = {"type": ["integer", "null"]}

WORDED = [
    *((TEXT, "text"), (COUNT, "whole number"), (NUMBER, "number"), (FLAG, "true or false"), (MAYBE, "text or null")),
    *((MAYBE_COUNT, "whole number or null"), (DATE, "date as YYYY-MM-DD"), (TIME, "time as HH:MM")),
]
"""How a prompt says what a field takes."""

Schema = dict[str, Any]


class Filled(NamedTuple):
    text: str
    schema: Schema
    expected: dict[str, Any]


class Form(NamedTuple):
    kind: str
    difficulty: str
    fill: Callable[[Dice], Filled]


FORMS: list[Form] = []


def form(kind: str, difficulty: str) -> Callable[[Callable[[Dice], Filled]], Callable[[Dice], Filled]]:
    def keep(fill: Callable[[Dice], Filled]) -> Callable[[Dice], Filled]:
        FORMS.append(Form(kind, difficulty, fill))
        return fill

    return keep


def fields(**properties: Schema) -> Schema:
    """An object with just these fields."""
    return {
        "type": "object",
        "properties": properties,
        "required": sorted(properties),
        "additionalProperties": False,
    }


def listed(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


def worded(schema: Schema) -> str:
    """A schema in words: small models copy a JSON Schema where they should fill it."""
    if "enum" in schema:
        return "one of " + ", ".join(schema["enum"])
    if schema["type"] == "array":
        return f"list, each {worded(schema['items'])}"
    if schema["type"] == "object":
        return "an object with " + "; ".join(
            f"{name} ({worded(inner)})" for name, inner in schema["properties"].items()
        )
    return next(words for known, words in WORDED if known == schema)


def names(dice: Dice, count: int) -> list[str]:
    firsts, lasts = dice.sample("first", FIRST, count), dice.sample("last", LAST, count)
    return [f"{first} {last}" for first, last in zip(firsts, lasts, strict=True)]


def said(dice: Dice, **variants: Sequence[str]) -> str:
    """One of several ways to say the same."""
    ((name, options),) = variants.items()
    return dice.choice(name, options)


@form("people", "easy")
def pet(dice: Dice) -> Filled:
    animal, name = (
        dice.choice("animal", ["cat", "dog", "parrot", "rabbit"]),
        dice.choice("name", PETS),
    )
    age = dice.number("age", 2, 9)
    text = said(
        dice,
        way=[
            f"We have a {animal}. Its name is {name} and it is {age} years old.",
            f"{name} is our {animal}. Last week {name} turned {age}.",
        ],
    )
    return Filled(text, fields(animal=TEXT, name=TEXT, age=COUNT), {"animal": animal, "name": name, "age": age})


@form("orders", "medium")
def invoice(dice: Dice) -> Filled:
    (customer,) = names(dice, 1)
    item, price = dice.choice("item", list(FURNITURE.items()))
    count, paid = dice.number("count", 2, 9), dice.choice("paid", [True, False])
    text = (
        f"{customer} bought {count} {item} from us at {price} dollars each. "
        f"{'The invoice was paid the same day.' if paid else 'The invoice is still open.'}"
    )
    schema = fields(customer=TEXT, item=one_of(*FURNITURE), quantity=COUNT, price_each=NUMBER, paid=FLAG)
    expected = {"customer": customer, "item": item, "quantity": count, "price_each": price, "paid": paid}
    return Filled(text, schema, expected)


@form("events", "hard")
def talks(dice: Dice) -> Filled:
    speakers = names(dice, 3)
    topics = dice.sample("topics", ["bees", "bridges", "old maps", "solar power", "tea", "whales"], 3)
    hours = [dice.number("first", 9, 10), dice.number("second", 11, 12), dice.number("third", 14, 16)]
    moved, gone = dice.sample("changes", [0, 1, 2], 2)
    text = (
        f"{speakers[0]} talks about {topics[0]} at {hours[0]} o'clock, {speakers[1]} about {topics[1]} at {hours[1]} "
        f"o'clock and {speakers[2]} about {topics[2]} at {hours[2]} o'clock. Two changes: the talk about "
        f"{topics[moved]} starts half an hour later, and the talk about {topics[gone]} is cancelled."
    )
    starts = [f"{hour:02d}:{30 if place == moved else 0:02d}" for place, hour in enumerate(hours)]
    talk = fields(speaker=TEXT, topic=TEXT, start=TIME, cancelled=FLAG)
    expected = [
        {"speaker": speakers[place], "topic": topics[place], "start": starts[place], "cancelled": place == gone}
        for place in range(3)
    ]
    return Filled(text, fields(talks=listed(talk)), {"talks": expected})


@form("amounts", "easy")
def drink(dice: Dice) -> Filled:
    item = dice.choice("item", ["green tea", "hot chocolate", "black coffee", "apple juice", "lemonade"])
    count = dice.number("count", 2, 8)
    text = said(
        dice,
        way=[
            f"Hello, could I please have {WORDS[count]} cups of {item}?",
            f"Good morning! We are a group and would like {item}, {WORDS[count]} cups in all.",
        ],
    )
    return Filled(text, fields(item=TEXT, count=COUNT), {"item": item, "count": count})


@form("events", "medium")
def journey(dice: Dice) -> Filled:
    (name,) = names(dice, 1)
    city, month = dice.choice("city", CITIES), dice.number("month", 0, 6)
    first, nights = dice.number("first", 3, 20), dice.number("nights", 3, 8)
    means = dice.choice("means", ["train", "bus", "car", "plane"])
    text = (
        f"{name} goes to {city} by {means} on {first} {MONTHS[month]} 2025 and comes back on "
        f"{first + nights} {MONTHS[month]}."
    )
    schema = fields(
        traveller=TEXT, destination=TEXT, by=one_of("train", "bus", "car", "plane"), start_date=DATE, end_date=DATE
    )
    day = f"2025-{month + 3:02d}-"
    expected = {"traveller": name, "destination": city, "by": means}
    expected |= {"start_date": f"{day}{first:02d}", "end_date": f"{day}{first + nights:02d}"}
    return Filled(text, schema, expected)


@form("orders", "hard")
def changed_order(dice: Dice) -> Filled:
    (first, cost), (second, price), (third, _) = dice.sample("items", list(MENU.items()), 3)
    count, other, new = dice.number("count", 2, 4), dice.number("other", 2, 5), dice.number("new", 5, 7)
    text = (
        f"Hi, I'd like {WORDS[count]} {first} at {cost} dollars each, {WORDS[other]} {second} at {price} dollars each "
        f"and a couple of {third}. Oh, wait: no {third} after all, and please make that {WORDS[new]} {first}."
    )
    schema = fields(items=listed(fields(name=one_of(*MENU), quantity=COUNT)), total=NUMBER)
    items = [{"name": first, "quantity": new}, {"name": second, "quantity": other}]
    return Filled(text, schema, {"items": items, "total": new * cost + other * price})


@form("events", "easy")
def choir(dice: Dice) -> Filled:
    group = dice.choice("group", ["choir", "chess club", "book circle", "running team"])
    day = dice.choice("day", ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"])
    hour, place = dice.number("hour", 17, 20), dice.choice("place", ["the town hall", "the old school", "the library"])
    text = f"Our {group} meets every {day} at {hour}:30 in {place}."
    schema = fields(group=TEXT, day=TEXT, time=TIME)
    return Filled(text, schema, {"group": group, "day": day, "time": f"{hour}:30"})


@form("opinions", "medium")
def hotel(dice: Dice) -> Filled:
    good, bad = ["breakfast", "view", "pool", "staff"], ["noise", "price", "wifi"]
    liked, disliked, aspect = dice.sample("liked", good, 2), dice.choice("disliked", bad), one_of(*good, *bad)
    stars, name = dice.number("stars", 2, 4), dice.choice("hotel", ["Hotel Aurora", "Hotel Lindenhof", "Hotel Marina"])
    text = (
        f"{stars} out of 5 stars for {name}. I loved the {liked[0]}, and the {liked[1]} was great too. "
        f"What I did not like at all was the {disliked}."
    )
    schema = fields(hotel=TEXT, stars=COUNT, liked=listed(aspect), disliked=listed(aspect))
    return Filled(text, schema, {"hotel": name, "stars": stars, "liked": liked, "disliked": [disliked]})


@form("missing", "hard")
def report(dice: Dice) -> Filled:
    caller, other = names(dice, 2)
    street = dice.choice("street", ["Mill Lane", "Station Road", "Park Street", "Harbour Road"])
    hour, cars = dice.number("hour", 7, 11), dice.number("cars", 2, 3)
    text = (
        f"{caller} called shortly after {hour} in the morning to say that {WORDS[cars]} cars had collided in {street}. "
        f"{other} from the bakery across the road heard the noise but saw nothing. "
        "It is not yet known whether anybody is hurt."
    )
    schema = fields(
        caller=TEXT,
        street=TEXT,
        cars=COUNT,
        eyewitness=MAYBE,
        injured=MAYBE_COUNT,
        police_officer=MAYBE,
    )
    expected = {"caller": caller, "street": street, "cars": cars}
    return Filled(text, schema, {**expected, "eyewitness": None, "injured": None, "police_officer": None})


@form("people", "easy")
def card(dice: Dice) -> Filled:
    (name,) = names(dice, 1)
    job, city = dice.choice("job", ["plumber", "nurse", "baker", "teacher", "driver"]), dice.choice("city", CITIES)
    phone = f"555-01{dice.number('phone', 10, 99)}"
    text = f"{name} works as a {job} in {city}. The phone number is {phone}."
    schema = fields(name=TEXT, job=TEXT, city=TEXT, phone=TEXT)
    return Filled(text, schema, {"name": name, "job": job, "city": city, "phone": phone})


@form("missing", "medium")
def contact(dice: Dice) -> Filled:
    (name,) = names(dice, 1)
    city, known = dice.choice("city", CITIES), dice.choice("known", ["email", "phone"])
    email, phone = f"{name.split()[0].lower()}@mail.example", f"555-02{dice.number('phone', 10, 99)}"
    reach = f"by mail at {email}" if known == "email" else f"by phone at {phone}"
    text = f"You can reach {name} {reach}. {name.split()[0]} moved from {city} last year and has not told us where to."
    schema = fields(name=TEXT, email=MAYBE, phone=MAYBE, lives_in=MAYBE)
    expected = {"name": name, "email": email if known == "email" else None}
    return Filled(text, schema, {**expected, "phone": phone if known == "phone" else None, "lives_in": None})


@form("people", "hard")
def team(dice: Dice) -> Filled:
    boss, second, third, fourth = names(dice, 4)
    (top, middle, low) = dice.choice("roles", [("director", "editor", "writer"), ("chief", "engineer", "tester")])
    text = (
        f"{boss} is the {top}. {second} and {third} are both {middle}s; {second} reports to {boss}, and {third} "
        f"reports to {second}. The newest member, {fourth}, is a {low} and works for {third}."
    )
    person = fields(name=TEXT, role=one_of(top, middle, low), reports_to=MAYBE)
    order = [(boss, top, None), (second, middle, boss), (third, middle, second), (fourth, low, third)]
    people = [{"name": name, "role": role, "reports_to": chief} for name, role, chief in order]
    return Filled(text, fields(people=listed(person)), {"people": people})


@form("opinions", "easy")
def rating(dice: Dice) -> Filled:
    product = dice.choice("product", ["kettle", "backpack", "headlamp", "umbrella"])
    stars = dice.choice("stars", [1, 2, 4, 5])
    again = stars > 2
    text = (
        f"I bought this {product} a month ago. {'I would buy it again!' if again else 'I would not buy it again.'} "
        f"My rating: {stars} stars."
    )
    schema = fields(product=TEXT, stars=COUNT, would_buy_again=FLAG)
    return Filled(text, schema, {"product": product, "stars": stars, "would_buy_again": again})


@form("amounts", "medium")
def recipe(dice: Dice) -> Filled:
    dish = dice.choice("dish", ["plum cake", "apple cake", "cheese pie", "onion bread"])
    (words, minutes) = dice.choice(
        "time", [("an hour and a quarter", 75), ("half an hour", 30), ("an hour and a half", 90), ("two hours", 120)]
    )
    flour, eggs = 50 * dice.number("flour", 3, 9), dice.number("eggs", 2, 5)
    text = (
        f"For the {dish} take {flour} grams of flour and {WORDS[eggs]} eggs, mix them well, "
        f"and leave everything in the oven for {words}."
    )
    schema = fields(dish=TEXT, flour_grams=COUNT, eggs=COUNT, oven_minutes=COUNT)
    return Filled(text, schema, {"dish": dish, "flour_grams": flour, "eggs": eggs, "oven_minutes": minutes})


@form("people", "easy")
def greeting(dice: Dice) -> Filled:
    (name,) = names(dice, 1)
    text = said(dice, way=[f"Hello, my name is {name}.", f"Hi, I am {name} and I am new here."])
    return Filled(text, fields(name=TEXT), {"name": name})


@form("amounts", "easy")
def boats(dice: Dice) -> Filled:
    places = ["boats in the harbour", "trees in the park", "books on the shelf", "stamps in the album"]
    count, what = dice.number("count", 3, 90), dice.choice("what", places)
    return Filled(f"There are {count} {what}.", fields(count=COUNT), {"count": count})


def task(number: int, row: dict[str, Any]) -> dict[str, Any]:
    filled: Filled = row["form"].fill(Dice(SEED, row["name"], row["copy"]))
    return {
        "task_id": f"ff{number:02d}-{row['name'].replace('_', '-')}",
        "kind": row["form"].kind,
        "difficulty": row["form"].difficulty,
        "text": filled.text,
        "form": "\n".join(f"{name}: {worded(inner)}" for name, inner in filled.schema["properties"].items()),
        "schema": filled.schema,
        "expected": filled.expected,
    }


def prepare(output_dir: Path = Path(__file__).parent / "data") -> Path:
    rows = [
        {"form": form, "name": form.fill.__name__, "copy": copy, "level": form.difficulty}
        for copy in range(TOLD)
        for form in FORMS
    ]
    tasks = [task(number, row) for number, row in enumerate(taking_turns(rows, "level"), start=1)]
    return write_tasks(Path(output_dir) / "fact_forms.jsonl", tasks)


if __name__ == "__main__":
    print(prepare())
