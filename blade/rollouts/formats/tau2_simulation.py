"""One simulation of tau2-bench as a rollout, with what its run and its task say about it."""

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from blade.rollouts.formats.building import Trajectory
from blade.rollouts.formats.calls import listed_calls
from blade.rollouts.formats.coercion import (
    arguments_text,
    content_text,
    first_line,
    json_text,
    number_or_none,
    objects,
    part,
    scalars,
    text_or_none,
)
from blade.rollouts.values import Ending, EndingKind, Expected, ItemKind, Origin, Rollout, TestStatus, Usage

FINISHED = ("user_stop", "agent_stop")
ENDINGS: dict[str, tuple[EndingKind, Origin | None]] = {
    "max_steps": ("limit", None),
    "timeout": ("timeout", None),
    "too_many_errors": ("error", "agent"),
    "agent_error": ("error", "agent"),
    "user_error": ("error", "user"),
    "infrastructure_error": ("error", "runner"),
    "context_window_exceeded": ("limit", "model"),
    "unexpected_error": ("error", "runner"),
}
NOT_COUNTED = ("infrastructure_error", "context_window_exceeded")
"""Reasons for which tau2 leaves a simulation out of its averages."""
DEFAULT_BASIS = ("DB", "COMMUNICATE")
"""What decides the reward of a task that does not say."""


SHARED = ("num_trials", "max_steps", "max_errors", "git_commit", "speech_complexity", "retrieval_config")
"""What the description of a run says itself."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What all simulations of a file share."""

    model: str | None
    """Model of the agent."""
    agent: str | None
    """The agent's implementation."""
    policy: str | None
    """What the agent is told to do."""
    tools: list[dict[str, Any]]
    """The tools, where they are stored."""
    settings: dict[str, Any]
    """Sampling, limits, the user's model, versions."""
    tasks: dict[str, dict[str, Any]]
    """Tasks by id."""
    changing: frozenset[str] | None
    """Tools that change something; `None` when the simulations do not type their tools."""


def describe(info: Any, tasks: Any, changing: frozenset[str] | None) -> Run:
    """What stands around the simulations."""
    about = info if isinstance(info, dict) else {}
    agent, user, environment = (part(about, name) for name in ("agent_info", "user_info", "environment_info"))
    sides = [("", part(agent, "llm_args")), ("user_", part(user, "llm_args"))]
    settings = {
        "domain": environment.get("domain_name"),
        **{f"{side}{name}": value for side, given in sides for name, value in given.items()},
        "user_model": user.get("llm"),
        "user_agent": user.get("implementation"),
        **{name: about.get(name) for name in SHARED},
        **{name: part(about, "audio_native_config").get(name) for name in ("provider", "reasoning_effort")},
    }
    defined = environment.get("tool_defs")
    each = list(defined.values()) if isinstance(defined, dict) else defined
    return Run(
        model=text_or_none(agent.get("llm")),
        agent=text_or_none(agent.get("implementation")),
        policy=text_or_none(environment.get("policy")),
        tools=[tool for tool in each if isinstance(tool, dict)] if isinstance(each, list) else [],
        settings=scalars(settings),
        tasks={
            str(text_or_none(task.get("id"))): task
            for task in (tasks if isinstance(tasks, list) else ())
            if isinstance(task, dict)
        },
        changing=changing,
    )


class Simulation:
    """One simulation."""

    def __init__(self, run: Run, record: dict[str, Any]) -> None:
        self.run = run
        self.record = record
        self.task = run.tasks.get(str(text_or_none(record.get("task_id"))), {})
        self.criteria = part(self.task, "evaluation_criteria")
        self.judged = part(record, "reward_info")
        self.reason = text_or_none(record.get("termination_reason"))

    def rollout(self, task: str, repeat: int) -> Rollout:
        """The attempt."""
        reward = None if self.reason in NOT_COUNTED else number_or_none(self.judged.get("reward"))
        breakdown = {str(name): number_or_none(value) for name, value in part(self.judged, "reward_breakdown").items()}
        steps = self.steps()
        return Rollout(
            task=task,
            repeat=repeat,
            run=text_or_none(self.run.settings.get("domain")),
            reward=reward,
            scores={"reward": reward, **breakdown},
            model=self.run.model,
            agent=self.run.agent,
            ending=self.ending(),
            expected=self.expected(),
            tests=self.tests(),
            settings=self.run.settings,
            usage=self.usage(),
            seconds=number_or_none(self.record.get("duration")),
            fields=scalars({name: value for name, value in self.fields().items() if value not in ("", [], {})}),
            tools=self.run.tools,
            items=steps.items,
        )

    def ending(self) -> Ending:
        """Why the simulation ended; a verifier that broke is worse than what came before it."""
        info = part(self.judged, "info")
        broke = text_or_none(info.get("error"))
        if broke is not None:
            name = broke.partition(":")[0]
            return Ending(kind="error", origin="verifier", name=name if name.isidentifier() else None, message=broke)
        if self.reason is None or self.reason in FINISHED:
            return Ending()
        kind, origin = ENDINGS.get(self.reason, ("error", None))
        mine = part(self.record, "info")
        said = [text_or_none(mine.get(name)) for name in ("error_type", "error")]
        message = ": ".join(text for text in said if text) or text_or_none(info.get("note"))
        return Ending(kind=kind, origin=origin, name=self.reason, message=message)

    def basis(self) -> Iterable[Any]:
        """What decides the reward."""
        for given in (self.judged.get("reward_basis"), self.criteria.get("reward_basis")):
            if isinstance(given, list):
                return given
        return DEFAULT_BASIS

    def expected(self) -> Expected | None:
        """What the task lists. Its actions are one way to the right state, so only those that change it are expected,
        unless the actions themselves decide the reward."""
        if not self.criteria:
            return None
        actions = [action for action in objects(self.criteria.get("actions")) if self.counts(action)]
        outputs = self.criteria.get("communicate_info")
        checks = [
            *texts(self.criteria.get("nl_assertions")),
            *map(assertion, objects(self.criteria.get("env_assertions"))),
        ]
        return Expected(
            calls=None if self.criteria.get("actions") is None else listed_calls(actions),
            outputs=texts(outputs) if isinstance(outputs, list) else None,
            checks=checks or None,
            script=script_of(part(self.task, "user_scenario").get("instructions")),
        )

    def counts(self, action: dict[str, Any]) -> bool:
        """Whether an action of the task has to be made."""
        return self.run.changing is None or "ACTION" in self.basis() or action.get("name") in self.run.changing

    def tests(self) -> dict[str, TestStatus]:
        """Every check that decides the reward, and every expected action."""
        basis = set(map(str, self.basis()))
        found: dict[str, TestStatus] = {}
        state = part(self.judged, "db_check").get("db_match")
        if "DB" in basis and isinstance(state, bool):
            found["DB"] = passed(state)
        for check in objects(self.judged.get("env_assertions")) if "ENV_ASSERTION" in basis else ():
            found[f"ENV_ASSERTION {assertion(part(check, 'env_assertion'))}"] = passed(check.get("met"))
        for check in objects(self.judged.get("communicate_checks")) if "COMMUNICATE" in basis else ():
            found[f"COMMUNICATE {content_text(check.get('info'))}"] = passed(check.get("met"))
        for check in objects(self.judged.get("nl_assertions")) if "NL_ASSERTION" in basis else ():
            found[f"NL_ASSERTION {content_text(check.get('nl_assertion'))}"] = passed(check.get("met"))
        for check in objects(self.judged.get("action_checks")):
            action = part(check, "action")
            if self.counts(action):
                name = f"ACTION {content_text(action.get('action_id') or action.get('name'))}"
                found[name] = passed(check.get("action_match"))
        return found

    def fields(self) -> dict[str, Any]:
        """What else is known about the simulation and its task."""
        scenario = part(self.task, "user_scenario")
        review = {
            name: part(self.record, "review").get(name) for name in ("agent_error", "user_error", "critical_user_error")
        }
        return {
            "termination_reason": self.reason,
            "simulation_id": self.record.get("id"),
            "seed": self.record.get("seed"),
            "user_cost": number_or_none(self.record.get("user_cost")),
            "purpose": part(self.task, "description").get("purpose"),
            "user_instructions": scenario.get("instructions"),
            "persona": scenario.get("persona"),
            "mode": self.record.get("mode"),
            "authentication": part(self.record, "auth_classification").get("status"),
            "hallucination_retries_used": self.record.get("hallucination_retries_used") or None,
            **{f"review.{name}": value for name, value in review.items()},
        }

    def usage(self) -> Usage:
        """Tokens of the agent's own messages, and what they cost."""
        sums: dict[str, int] = {}
        for message in self.messages():
            used = message.get("usage") if message.get("role") == "assistant" else None
            for name, value in used.items() if isinstance(used, dict) else ():
                if isinstance(value, int) and not isinstance(value, bool):
                    sums[name] = sums.get(name, 0) + value
        return Usage(
            input_tokens=sums.get("prompt_tokens") or None,
            output_tokens=sums.get("completion_tokens") or None,
            cost=number_or_none(self.record.get("agent_cost")),
        )

    def messages(self) -> Iterator[dict[str, Any]]:
        """The messages in order; those of a call that was recorded in ticks, with what was said in one go together."""
        stored = self.record.get("messages")
        if isinstance(stored, list):
            for message in objects(stored):
                inner = message.get("tool_messages")
                yield from objects(inner) if isinstance(inner, list) else (message,)
        else:
            yield from spoken(objects(self.record.get("ticks")))

    def steps(self) -> Trajectory:
        """The conversation. Whatever the user does with tools of its own is marked as the user's."""
        steps = Trajectory()
        policy = text_or_none(self.record.get("policy")) or self.run.policy
        if policy:
            steps.add("message", policy, role="system", prompt=True)
        if ticket := text_or_none(self.task.get("ticket")):
            steps.add("message", ticket, role="user", prompt=True)
        begun = len(objects(part(self.task, "initial_state").get("message_history")))
        for number, message in enumerate(self.messages()):
            add_message(steps, message, prompt=number < begun)
        return steps


def add_message(steps: Trajectory, message: dict[str, Any], *, prompt: bool) -> None:
    """One message: what was said, each call, or a tool's answer."""
    role = text_or_none(message.get("role"))
    whose = "user" if "user" in (role, message.get("requestor")) else None
    text = content_text(message.get("content"))
    if role == "tool":
        failed = message.get("error") is True
        steps.add(
            "tool_result", text, call_id=text_or_none(message.get("id")), prompt=prompt, agent=whose,
            error=first_line(text) if failed else None,
        )  # fmt: skip
        return
    if thought := reasoning_of(message):
        steps.add("reasoning", thought, prompt=prompt, agent=whose)
    if text:
        kind: ItemKind = "message" if prompt or role == "assistant" else "environment"
        steps.add(kind, text, role=role, prompt=prompt)
    for call in objects(message.get("tool_calls")):
        caller = "user" if "user" in (role, call.get("requestor")) else None
        steps.add(
            "tool_call", arguments_text(call.get("arguments")), name=text_or_none(call.get("name")),
            call_id=text_or_none(call.get("id")), prompt=prompt, agent=caller,
        )  # fmt: skip


def reasoning_of(message: dict[str, Any]) -> str:
    """What the model thought before a message, kept in the provider's own response."""
    response = part(message, "raw_data")
    for holder in (message, part(response, "message"), response):
        blocks = [
            text for block in objects(holder.get("thinking_blocks")) if (text := content_text(block.get("thinking")))
        ]
        thought = content_text(holder.get("reasoning_content")) or "\n".join(blocks)
        if thought:
            return thought
    return ""


def spoken(ticks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The messages of a voice call: chunks that follow each other are one message until the other side has a word."""
    role, said = "", ""

    def turn() -> Iterator[dict[str, Any]]:
        if said.strip():
            yield {"role": role, "content": said}

    for tick in ticks:
        for side, name in (("agent", "assistant"), ("user", "user")):
            chunk = part(tick, f"{side}_chunk")
            text = content_text(chunk.get("content"))
            calls, results = objects(tick.get(f"{side}_tool_calls")), objects(tick.get(f"{side}_tool_results"))
            if text and name != role:
                yield from turn()
                role, said = name, ""
            said += text
            if calls or results:
                yield from turn()
                said = ""
                yield {"role": name, "tool_calls": calls}
                yield from ({**result, "role": "tool"} for result in results)
    yield from turn()


def script_of(instructions: Any) -> str | None:
    """What a simulated user is told, whether in one text or in parts."""
    parts = instructions.values() if isinstance(instructions, dict) else [instructions]
    return "\n".join(text for one in parts if (text := content_text(one))) or None


def assertion(given: dict[str, Any]) -> str:
    """An assertion about the environment, as a call."""
    arguments = given.get("arguments")
    inside = (
        ", ".join(f"{name}={json_text(value)}" for name, value in arguments.items())
        if isinstance(arguments, dict)
        else ""
    )
    negated = "not " if given.get("assert_value") is False else ""
    return f"{negated}{content_text(given.get('func_name'))}({inside})"


def passed(met: Any) -> TestStatus:
    return "passed" if met is True else "failed" if met is False else "error"


def texts(value: Any) -> list[str]:
    return [content_text(one) for one in value] if isinstance(value, list) else []
