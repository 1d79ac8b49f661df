"""A shop assistant with tools: look the customer up, look at the order, change it, say so."""

import json
import random
from typing import Any, NamedTuple

from accuracy.failures import TOOL_ERRORS
from accuracy.made_runs import Item, MadeRun, Row, Task, call, finish_rows, gym_row, key, rates, result, said, thought
from accuracy.prose import note, reasoning
from accuracy.speech import ADMISSIONS
from accuracy.wordings import Words

NAMES = ("find_customer", "get_order", "list_products", "cancel_order", "update_address", "exchange_item", "refund")
TOOLS = [
    {"type": "function", "name": name, "description": name.replace("_", " "), "parameters": {"type": "object"}}
    for name in NAMES
]
PEOPLE = ("Ada Novak", "Bo Larsen", "Cleo Marsh", "Dev Patel", "Edda Quist", "Finn Oduya", "Gia Romano", "Hal Brandt")
STREETS = ("12 Mill Lane", "4 Harbour Row", "98 Elm Court", "7 Station Road", "31 Canal Street")
REASONS = ("no longer needed", "ordered by mistake")
SYSTEM = (
    "You help customers of a shop. Look the customer up before you change anything. Delivered orders can be exchanged "
    "or refunded, pending ones cancelled or sent to another address. If a tool reports an error or a request timed "
    "out, read the message and try once more. Refuse what the rules do not allow."
)
CLOSINGS = (
    "The {thing} is {state} now. Is there anything else?", "I have taken care of it: {thing} {state}.",
    "Done. Your {thing} is {state}; a mail is on its way.", "All right, {thing} is {state}. Sorry again for the error.",
    "Your {thing} has been {state}. I couldn't find anything else that is open.",
)  # fmt: skip


class Order(NamedTuple):
    """What a task is about."""

    action: str
    customer: str
    number: str
    item: str
    value: str


def make_tasks(count: int, rng: random.Random) -> list[Task]:
    """Requests; `answer` holds the order as JSON, `kind` the action."""
    tasks: dict[str, Task] = {}
    wanted = rates(count, rng)
    actions = ("cancel_order", "update_address", "exchange_item", "refund", "look", "ask", "closed")
    while len(tasks) < count:
        action = rng.choices(actions, (5, 4, 4, 4, 4, 0.5, 0.4))[0]
        number = f"W{rng.randint(10000, 99999)}"
        order = Order(action, rng.choice(PEOPLE), number, f"item-{rng.randint(100, 999)}", value_of(action, rng))
        rate = {"ask": 0.97, "closed": 1.0}.get(action, wanted[len(tasks)])
        prompt = f"{request(order, rng)} {note(rng) if rng.random() < 0.2 else ''}".strip()
        tasks.setdefault(prompt, Task(prompt, rate, answer=json.dumps(order), kind=action, stable=rng.random() < 0.5))
    return list(tasks.values())


def value_of(action: str, rng: random.Random) -> str:
    if action == "update_address":
        return rng.choice(STREETS)
    return rng.choice(REASONS) if action == "cancel_order" else f"{rng.randint(5, 400)}.{rng.randint(10, 99)}"


def request(order: Order, rng: random.Random) -> str:
    who = f"This is {order.customer}."
    texts = {
        "cancel_order": f"Please cancel order {order.number}, {order.value}.",
        "update_address": f"Send order {order.number} to {order.value} instead.",
        "exchange_item": f"I want to exchange {order.item} of order {order.number} for the larger one.",
        "refund": f"Please refund {order.item} of {order.number}, it arrived broken. The site timed out when I tried.",
        "look": f"How much did I pay for order {order.number}? The invoice page shows an error.",
        "ask": f"May I cancel an order that is still pending? It is about {order.number}.",
        "closed": f"Cancel order {order.number}, even if it has shipped.",
    }
    return f"{who} {texts[order.action]}" if rng.random() < 0.7 else f"{texts[order.action]} {who}"


class Shop:
    """One attempt at a task, item by item."""

    def __init__(self, order: Order, words: Words, *, chat: bool) -> None:
        self.order = order
        self.words = words
        self.rng = words.rng
        self.chat = chat
        self.items: list[Item] = []
        self.met_error = False

    def use(self, name: str, arguments: dict[str, Any], answer: str) -> None:
        """A call with its result; now and then a harmless slip before it, or the same call twice."""
        if self.rng.random() < 0.25:
            self.items.append(thought(reasoning(self.rng, self.rng.randint(1, 3))))
        if self.rng.random() < 0.02:
            self.pair(name, {**arguments, "id": f"#{self.rng.randint(1, 99)}"}, self.error())
        if self.rng.random() < 0.02:
            self.pair(name, arguments, answer)
        self.pair(name, arguments, answer)

    def error(self) -> str:
        self.met_error = True
        return self.words.say(TOOL_ERRORS, what=self.order.number)

    def pair(self, name: str, arguments: dict[str, Any], answer: str) -> None:
        call_id = f"call_{self.words.id()}"
        self.items += [call(name, arguments, call_id), result(answer, call_id)]

    def ask_user(self) -> None:
        if self.chat:
            self.items.append(said(f"You want this for order {self.order.number}, is that right?"))
            self.items.append({"type": "message", "role": "user", "content": self.rng.choice(("Yes.", "Yes, please."))})

    def look_up(self) -> None:
        name = self.order.customer
        customer = {"name": name, "id": name.split()[0].lower(), "notes": note(self.rng), "orders": [self.order.number]}
        self.use("find_customer", {"name": name}, json.dumps(customer, indent=self.rng.choice((None, 2))))
        lines = [{"item": self.order.item, "price": self.order.value, "comment": note(self.rng)}]
        state = "shipped" if self.order.action == "closed" else "open"
        answer = {"order": self.order.number, "status": state, "lines": lines}
        self.use("get_order", {"order": self.order.number}, json.dumps(answer))

    def write(self, item: str, value: str) -> None:
        action = self.order.action
        if action == "exchange_item":
            goods = [{"id": f"item-{n}", "size": n % 7, "text": note(self.rng)} for n in range(self.rng.randint(5, 40))]
            self.use("list_products", {"like": self.order.item}, json.dumps(goods))
        self.ask_user()
        arguments = {"order": self.order.number, "item": item, "value": value}
        self.use(action, arguments, json.dumps({"status": "ok", "order": self.order.number, "errors": []}))

    def close(self) -> None:
        state = {"cancel_order": "cancelled", "refund": "refunded", "look": "paid"}.get(self.order.action, "updated")
        text = self.rng.choice(CLOSINGS).format(thing=f"order {self.order.number}", state=state)
        why = f" {reasoning(self.rng, self.rng.randint(1, 4))}" if self.rng.random() < 0.3 else ""
        self.items.append(said(f"{text} It came to {self.order.value}.{why}"))


def make_run(tasks: list[Task], repeats: int, words: Words, *, model: str) -> MadeRun:
    """A clean run."""
    chat = words.rng.random() < 0.4
    natural: dict[str, set[str]] = {"tool_error": set(), "no_tool_call": set()}
    rows = [
        attempt(number, repeat, task, words, chat=chat, model=model, natural=natural)
        for number, task in enumerate(tasks)
        for repeat in range(repeats)
    ]
    return MadeRun("assistant", finish_rows(rows, words.rng), tasks, natural)


def attempt(
    number: int, repeat: int, task: Task, words: Words, *, chat: bool, model: str, natural: dict[str, set[str]]
) -> Row:
    right = words.rng.random() < task.rate
    shop = Shop(Order(*json.loads(task.answer)), words, chat=chat)
    act(shop, right=right, stable=task.stable)
    prompt = [
        {"type": "message", "role": "system", "content": SYSTEM},
        {"type": "message", "role": "user", "content": task.prompt},
    ]
    row = gym_row(number, repeat, float(right), prompt=prompt, output=shop.items, model=model, tools=TOOLS)
    if shop.met_error:
        natural["tool_error"].add(key(row))
    if task.kind == "ask":
        natural["no_tool_call"].add(key(row))
    return row


def act(shop: Shop, *, right: bool, stable: bool) -> None:
    """What the model does; a failing attempt changes the wrong thing, or nothing."""
    action, rng = shop.order.action, shop.rng
    if action == "ask":
        rule = "Yes, a pending order can be cancelled at any time." if right else "No, orders are final once placed."
        shop.items.append(said(f"{rule} {reasoning(rng, 2)}"))
        return
    shop.look_up()
    if action == "closed":
        shop.pair("cancel_order", {"order": shop.order.number}, shop.error())
        shop.items.append(said(shop.words.say(ADMISSIONS, what="order")))
        return
    if action != "look" and (right or stable or rng.random() < 0.7):
        item = shop.order.item if right else f"item-{7 if stable else rng.randint(1, 99)}"
        shop.write(item, shop.order.value)
    if action == "look" and not right:
        shop.order = shop.order._replace(value=f"{rng.randint(1, 400)}.00")
    shop.close()
