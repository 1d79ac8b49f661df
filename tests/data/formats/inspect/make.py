"""Makes the logs beside this file with inspect-ai (0.3.285) and its mock model.

    pip install inspect-ai==0.3.285 && python make.py

One log holds samples that end in every way; `agents.eval` one whose agent asks another. Tracebacks are cut down to
their last line, so that no path of the machine that made them is kept. Tokens are words: the mock model's own counter
needs a download.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tiktoken
from inspect_ai import Task, eval
from inspect_ai.agent import as_tool, react
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log, write_eval_log
from inspect_ai.model import ContentReasoning, ContentText, ModelOutput, get_model
from inspect_ai.scorer import Score, accuracy, mean, scorer, stderr
from inspect_ai.solver import solver, system_message, use_tools
from inspect_ai.tool import ToolError, tool

VALUES = {
    "partial": "P", "none": "N", "wrong": "I", "unscored": float("nan"), "odd": "maybe", "yes": "Yes", "digits": "0.25",
}  # fmt: skip


class Words:
    def encode(self, text: str, **_: Any) -> list[str]:
        return text.split()


tiktoken.get_encoding = tiktoken.encoding_for_model = lambda *_, **__: Words()


def says(text: str) -> Any:
    return ModelOutput.from_content("mockllm/model", text)


def calls(name: str, **arguments: Any) -> Any:
    return ModelOutput.for_tool_call("mockllm/model", name, arguments)


@tool
def look_up() -> Any:
    async def execute(key: str) -> str:
        """Looks something up.

        Args:
            key: What to look up.
        """
        if key == "absent":
            raise ToolError("no such record")
        if key == "slow":
            raise TimeoutError
        if key == "crash":
            raise RuntimeError("sandbox died")
        return f"{key} " + "is known to be long " * 10

    return execute


@solver
def careless() -> Any:
    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == "solver":
            raise ValueError("no plan")
        return await generate(state)

    return solve


@scorer(metrics=[accuracy(), stderr()])
def verdict() -> Any:
    async def score(state: Any, target: Any) -> Any:
        if state.sample_id == "scorer":
            raise KeyError("no verdict")
        value = VALUES.get(state.sample_id, "C")
        return Score(value=value, answer=state.output.completion, explanation="judged", metadata={"strict": True})

    return score


@scorer(metrics={"style": [mean()], "length": [mean()]})
def looks() -> Any:
    async def score(state: Any, target: Any) -> Any:
        return Score(value={"style": 1, "length": 0.5})

    return score


def every_way(messages: list[Any], *_: Any) -> Any:
    task, last = next(m for m in messages if m.role == "user").text, messages[-1]
    if task == "provider":
        raise ConnectionError("503 from the provider")
    if task == "loop":
        return calls("look_up", key="again")
    if task in ("absent", "slow", "crash") and last.role != "tool":
        return calls("look_up", key=task)
    answer = says("It is done")
    answer.choices[0].message.content = [ContentReasoning(reasoning="hm " * 50), ContentText(text="It is done")]
    return answer


def two_agents(messages: list[Any], *_: Any) -> Any:
    if "researcher" in messages[0].text:
        return calls("look_up", key="absent") if messages[-1].role != "tool" else calls("submit", answer="not found")
    return calls("researcher", input="find it") if messages[-1].role != "tool" else calls("submit", answer="42")


def make(name: str, task: Any, model: Callable[..., Any], **options: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (log,) = eval(
            task, model=get_model("mockllm/model", custom_outputs=model), log_dir=folder, display="none",
            fail_on_error=False, **options,
        )  # fmt: skip
        log = read_eval_log(log.location)
    log.location, log.eval.task_file, log.eval.revision = "", None, None
    for sample in log.samples or []:
        for event in sample.events:
            if event.event == "logger":
                event.message.filename = ""
            if event.event == "model":
                event.traceback = event.traceback_ansi = None
        for error in (sample.error, *(event.error for event in sample.events if event.event == "error")):
            if error is not None:
                error.traceback = error.traceback_ansi = error.traceback.strip().splitlines()[-1]
    write_eval_log(log, str(Path(__file__).with_name(name)))


ENDS = ("fine", *VALUES, "absent", "slow", "crash", "loop", "solver", "scorer", "provider")

if __name__ == "__main__":
    make(
        "every_way.eval",
        Task(
            dataset=[Sample(id=end, input=end, target="done", metadata={"kind": end[0]}) for end in ENDS],
            solver=[system_message("Be brief."), use_tools(look_up()), careless()],
            scorer=[verdict(), looks()],
            name="every_way",
        ),
        every_way,
        message_limit=6,
        temperature=0.5,
    )
    researcher = react(name="researcher", description="Researches.", prompt="You are a researcher.", tools=[look_up()])
    make(
        "agents.eval",
        Task(
            dataset=[Sample(id=1, input="What is it?", target="42")],
            solver=react(prompt="You lead.", tools=[as_tool(researcher)]),
            scorer=verdict(),
            name="agents",
        ),
        two_agents,
    )
