"""`blade analyze`: let a model do the reading, and believe nothing of it that was not looked up."""

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from blade.cli.options import AsJson, Folder, epilog
from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.analyst.asking import AnalystOptions, Opinion
    from blade.analyst.publishing import Published
    from blade.llm.budget import Budget
    from blade.llm.model import Model
    from blade.report.workspace import Workspace

EPILOG = epilog(
    "blade analyze out --model gpt-5-mini --votes 3",
    "blade analyze out --model qwen --base-url http://localhost:8100/v1 --tasks 10 --dry-run",
    "blade analyze out --agent-cmd 'claude -p --permission-mode acceptEdits'",
)
SKILL = "blade-analysis"
Came = tuple["list[Opinion]", "Published | None"]
"""What a reader said of tasks, and what became of its narrative."""


def analyze(
    folder: Folder,
    model: Annotated[str | None, typer.Option(metavar="MODEL", help="Model that reads the rollouts.")] = None,
    base_url: Annotated[
        str | None, typer.Option(metavar="URL", help="A server other than the vendor's; it may not need a key.")
    ] = None,
    api: Annotated[
        str, typer.Option(metavar="API", help="auto, responses, chat or messages: the protocol to speak.")
    ] = "auto",
    agent_cmd: Annotated[
        str | None,
        typer.Option(metavar="COMMAND", help="Let this coding agent read, in a folder of its own; {prompt} or last."),
    ] = None,
    tasks: Annotated[int | None, typer.Option(min=1, metavar="N", help="Maximum number of tasks to read.")] = None,
    votes: Annotated[
        int,
        typer.Option(
            min=1, metavar="N", help="Maximum readings per task; a second one is made only when the first is unsure."
        ),
    ] = 1,
    again: Annotated[bool, typer.Option("--again", help="Also read tasks that already have a reader's label.")] = False,
    chars: Annotated[
        int, typer.Option(min=1000, metavar="N", help="Maximum characters of rollouts to show the model per task.")
    ] = 24_000,
    no_narrative: Annotated[
        bool, typer.Option("--no-narrative", help="Label only; do not write the report's prose.")
    ] = False,
    concurrency: Annotated[int, typer.Option(min=1, metavar="N", help="Number of tasks to ask about in parallel.")] = 4,
    max_output_tokens: Annotated[
        int, typer.Option(min=1, metavar="N", help="Maximum tokens per answer, reasoning included.")
    ] = 4000,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Maximum number of tokens to spend.")
    ] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, metavar="X", help="Maximum cost; needs both prices.")] = None,
    price_in: Annotated[float | None, typer.Option(min=0, metavar="X", help="Price of a million input tokens.")] = None,
    price_out: Annotated[
        float | None, typer.Option(min=0, metavar="X", help="Price of a million output tokens.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(min=1, metavar="SECONDS", help="How long a request, or the agent's whole run, may take.")
    ] = 1800.0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be sent without sending it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a model read and label the failing tasks.

    It reads what the reading list names, says why each task fails, and writes the report's prose.

    Every citation, quote and figure is looked up; an answer that does not hold goes back with the reason, and in the
    end counts as undecided or not written. The prose goes to narrative.md, which is yours to edit: one that was written
    or edited by hand is never replaced. Secrets are removed before anything is sent. Replies are kept, so that a second
    run is free.
    """
    from blade.analyst.asking import AnalystOptions
    from blade.cli.folders import open_folder
    from blade.llm.budget import Budget
    from blade.llm.model import Sampling

    if (model is None) == (agent_cmd is None) and not (dry_run and model is None):
        raise UsageError("name who reads: either --model MODEL or --agent-cmd COMMAND.")
    if max_cost is not None and (price_in is None or price_out is None):
        raise UsageError("--max-cost needs --price-in and --price-out, the prices of a million tokens.")
    workspace = open_folder(folder)
    options = AnalystOptions(
        tasks=tasks,
        votes=votes,
        again=again,
        chars=chars,
        concurrency=concurrency,
        narrative=not no_narrative,
        sampling=Sampling(temperature=0.0, max_output_tokens=max_output_tokens, seed=0),
    )
    budget = Budget(max_tokens=max_tokens, max_cost=max_cost, price_in=price_in, price_out=price_out)
    if dry_run and agent_cmd is not None:
        show_agent(workspace, agent_cmd, as_json=as_json)
    elif dry_run:
        show_plan(workspace, options, budget, as_json=as_json)
    elif agent_cmd is not None:
        finish(workspace, by_agent(workspace, agent_cmd, options, seconds=timeout), as_json=as_json)
    else:
        assert model is not None
        finish(workspace, by_model(workspace, options, budget, Server(model, base_url, api, timeout)), as_json=as_json)


class Server:
    """Where a model is asked."""

    def __init__(self, model: str, base_url: str | None, api: str, timeout: float) -> None:
        self.model, self.base_url, self.api, self.timeout = model, base_url, api, timeout


def by_model(workspace: "Workspace", options: "AnalystOptions", budget: "Budget", server: Server) -> Came:
    """Opinions and prose of a model that is asked over a wire."""
    import asyncio

    from platformdirs import user_cache_path

    from blade.cli.analyze_summary import spent_line
    from blade.llm.budget import MeteredModel
    from blade.llm.cache import CachedModel
    from blade.llm.connect import connect

    asked = connect(server.model, base_url=server.base_url, api=server.api, timeout=server.timeout)  # type: ignore[arg-type]
    metered = MeteredModel(asked, budget)
    cached = CachedModel(metered, user_cache_path("blade") / "replies", place=f"{server.api} {server.base_url or ''}")

    async def whole() -> Came:
        try:
            return await read_and_write(workspace, cached, options)
        finally:
            await cached.close()

    came = asyncio.run(whole())
    typer.echo(spent_line(metered.spent, budget, hits=cached.hits), err=True)
    return came


async def read_and_write(workspace: "Workspace", model: "Model", options: "AnalystOptions") -> Came:
    """The labels first, then the prose, which speaks of them."""
    from blade.analyst.analyze import analyze
    from blade.analyst.narrating import narrate
    from blade.analyst.publishing import KEPT, has_foreign_narrative, publish_story
    from blade.cli.analyze_summary import tell_opinion, tell_part
    from blade.report.workspace import open_workspace

    opinions = await analyze(workspace, model, options, told=tell_opinion)
    if not options.narrative:
        return opinions, None
    if has_foreign_narrative(workspace.folder):
        return opinions, KEPT
    workspace = open_workspace(workspace.folder)
    story = await narrate(workspace, model, options, progress=tell_part)
    return opinions, publish_story(workspace, story, author=f"llm:{model.name}")


def by_agent(workspace: "Workspace", command: str, options: "AnalystOptions", *, seconds: float) -> Came:
    """Opinions and prose of a coding agent."""
    from blade.analyst.agent import author_of, collect, prepare, run_agent
    from blade.analyst.analyze import put_down
    from blade.analyst.publishing import publish_from_agent
    from blade.diagnosis.packs.load import skills_folder
    from blade.report.workspace import open_workspace

    author = author_of(command)
    with tempfile.TemporaryDirectory(prefix="blade-agent-") as place:
        work = Path(place) / "work"
        prepare(workspace, work, skill=skills_folder() / SKILL)
        code = run_agent(command, work, author=author, seconds=seconds)
        if code:
            ended = f"did not end within {seconds:g} s" if code < 0 else f"exited with {code}"
            typer.echo(f"the agent {ended}; what it left is checked all the same", err=True)
        opinions = collect(workspace, work, author=author)
        for opinion in opinions:
            put_down(workspace, opinion)
        if not options.narrative:
            return opinions, None
        return opinions, publish_from_agent(open_workspace(workspace.folder), work, author=author)


def show_plan(workspace: "Workspace", options: "AnalystOptions", budget: "Budget", *, as_json: bool) -> None:
    """What would be sent, and about what it would cost."""
    from blade.analyst.analyze import plan
    from blade.analyst.narrating import plan_story
    from blade.analyst.publishing import has_foreign_narrative
    from blade.cli.analyze_summary import make_plan, print_plan
    from blade.cli.terminal import make_console, print_as_json

    writes = options.narrative and not has_foreign_narrative(workspace.folder)
    story = plan_story(workspace, options) if writes else []
    shown = make_plan(plan(workspace, options), story, options, budget)
    if as_json:
        print_as_json(shown)
    else:
        print_plan(make_console(), shown)


def show_agent(workspace: "Workspace", command: str, *, as_json: bool) -> None:
    """What would be started, and on what."""
    from blade.analyst.agent import author_of, command_line
    from blade.cli.terminal import foreign, make_console, print_as_json, put

    words = command_line(command, author=author_of(command))
    if as_json:
        print_as_json({"folder": str(workspace.folder), "skill": SKILL, "command": words})
        return
    place = f"Nothing is started. In a folder with a copy of {workspace.folder} and the skill {SKILL}:"
    put(make_console(), foreign(place), foreign("\n".join(words)))


def finish(workspace: "Workspace", came: Came, *, as_json: bool) -> None:
    """Renders the report with the new labels and prose, and says what came of the reading."""
    from blade.analyst.record import agreements
    from blade.audit.narrated import render_narrated
    from blade.cli.analyze_summary import print_outcome
    from blade.cli.terminal import make_console, print_as_json
    from blade.report.workspace import open_workspace

    workspace, _ = render_narrated(open_workspace(workspace.folder))
    (opinions, story), agreed = came, agreements(workspace)
    if as_json:
        print_as_json({"opinions": opinions, "agreements": agreed, "narrative": story})
    else:
        print_outcome(make_console(), str(workspace.folder), opinions, agreed, story)
