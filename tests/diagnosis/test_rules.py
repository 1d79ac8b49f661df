"""What is known of the rule that a wrong call breaks, in made-up trials of a shop."""

import json
from pathlib import Path

from rollout_rows import Row, analyze_rows

from blade.diagnosis.rules import instruction_about
from blade.rollouts import Item

POLICY = """# Policy
Help users with their orders.
## Refunds
- Always be polite.
- An order can be refunded only while it is sealed, and a refund goes back to the card.
## Other
- You may cancel nothing."""


def trial(task: int, repeat: int, *, state: str, refunds: bool) -> Row:
    """The agent looks at an order and refunds it; that is expected of a sealed one only."""
    order = f"ORDER{task}"
    turns: list[Row] = [{"role": "system", "content": POLICY}, {"role": "user", "content": f"About {order}, please."}]
    seen = {"order_id": order, "state": state, "owner": f"user{task}"}
    for number, (name, answer) in enumerate([("get_order", seen), *([("refund_order", {})] if refunds else [])]):
        arguments = json.dumps({"order_id": order})
        called = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        turns.append({"role": "assistant", "content": None, "tool_calls": [called]})
        turns.append({"role": "tool", "tool_call_id": f"c{number}", "name": name, "content": json.dumps(answer)})
    turns += [{"role": "assistant", "content": f"Done, {repeat}."}, {"role": "user", "content": "Thanks. ###STOP###"}]
    expected = [{"name": "refund_order", "kwargs": {"order_id": order}}] if state == "sealed" else []
    info = {"task": {"actions": expected, "outputs": [], "instruction": f"Refund {order}."}}
    return {"task_id": task, "trial": repeat, "reward": float(refunds == bool(expected)), "info": info, "traj": turns}


def advice(folder: Path, *, opened: str) -> str:
    """What is recommended about refunds that should not have been given."""
    rows = [trial(n, r, state=opened if n < 8 else "sealed", refunds=True) for n in range(16) for r in range(2)]
    rows += [trial(n, 2, state=opened, refunds=False) for n in range(8)]
    found = analyze_rows(folder, rows).interventions
    (what,) = [one.what for one in found if one.target.startswith("refund-order-was-called")]
    return what


def test_the_rule_is_quoted_from_the_prompt_and_found_in_the_records(tmp_path: Path) -> None:
    assert advice(tmp_path, opened="opened") == (
        "`refund_order` was called though not expected (16 failing rollouts): make `refund_order` enforce the rule, or "
        "have the agent check it before the call. `state` is `opened` in 8 of the 8 wrong calls, and in 0 of the 8 "
        "right ones. The prompt says (`0:0#0`): “An order can be refunded only while it is sealed, and a refund goes "
        "back to the card.”"
    )


def test_the_rule_of_an_argument_is_that_of_its_own_tool() -> None:
    policy = """## Book flight
- Payment: one payment method out of the user's profile.
## Modify flight
- Payment: if flights change, the user names a payment method, and payment is due at once."""
    prompt = [Item(position=0, kind="message", role="system", text=policy, prompt=True)]
    parts = ["payment", "method"]

    assert instruction_about(parts, prompt) == (
        "Payment: if flights change, the user names a payment method, and payment is due at once.", 0,
    )  # fmt: skip
    assert instruction_about(parts, prompt, within=["book"]) == (
        "Payment: one payment method out of the user's profile.", 0,
    )  # fmt: skip
    assert instruction_about(parts, prompt, within=["refuel"]) is None
