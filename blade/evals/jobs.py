"""A run put together: which plan, who plays it, who judges, with which skills."""

import msgspec

from blade.benchmarks.benchmark import Benchmark
from blade.environments import Environment, load_environment
from blade.environments.judged.verifier import VOTES, Judged
from blade.errors import UsageError
from blade.evals.agent import Limits
from blade.evals.commands import CommandLimits, CommandPlayer
from blade.evals.judging import ModelJudge
from blade.evals.manifest import Settings, server_shown, settings_of
from blade.evals.plan import Plan, check_data, plan_of
from blade.evals.players import ModelPlayer, Player
from blade.evals.skills import TURNS, Library, read_library
from blade.llm import Model, Sampling, connect
from blade.llm.client import Backoff
from blade.llm.connect import TIMEOUT, Api, choose_api
from blade.llm.text_tools import TextToolModel, ToolStyle


class JudgeTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Which model judges."""

    model: str
    """Its name."""
    base_url: str | None = None
    """Its server."""
    votes: int = VOTES
    """Votes per answer at most."""

    def judge(self) -> ModelJudge:
        """The judge."""
        return ModelJudge(connect(self.model, base_url=self.base_url))


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """Who is asked, and how patiently."""

    model: str
    """Name of the model."""
    base_url: str | None = None
    """Its server; the vendor's own by default."""
    api: Api = "auto"
    """How it is asked."""
    agent_url: str | None = None
    """A NeMo Gym agent that plays instead of our own loop."""
    agent_cmd: str | None = None
    """The command of an agent that plays instead of our own loop."""
    agent: CommandLimits = CommandLimits()
    """What that agent may use."""
    judge: "JudgeTarget | None" = None
    """Who judges, where a model does."""
    tools: ToolStyle = "native"
    """How it calls tools: by its API, or by lines of text."""
    timeout: float = TIMEOUT
    """Timeout of a request, in seconds."""
    attempts: int = 6
    """Number of attempts for a request that may still succeed."""
    backoff: float = 0.5
    """Seconds before the second time; doubles from there."""

    @property
    def spoken(self) -> str:
        """The API that is really spoken."""
        if self.agent_url or self.agent_cmd:
            return "agent" if self.agent_url else "command"
        return choose_api(self.model, base_url=self.base_url) if self.api == "auto" else self.api

    @property
    def server(self) -> str | None:
        """Where it is, for the manifest."""
        return None if self.agent_cmd else server_shown(self.agent_url or self.base_url)

    def connect(self) -> Model:
        """The model."""
        model = connect(
            self.model,
            base_url=self.base_url,
            api=self.api,
            timeout=self.timeout,
            attempts=self.attempts,
            backoff=self.backoff,
        )
        return TextToolModel(model) if self.tools == "text" else model


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asks for beyond what a benchmark says."""

    sampling: Sampling = Sampling()
    """How answers are drawn; what is not set is the benchmark's."""
    repeats: int | None = None
    """Rollouts per task."""
    limit: int | None = None
    """Tasks."""
    max_turns: int | None = None
    """Maximum replies per rollout."""
    max_rollout_tokens: int | None = None
    """Maximum tokens of all replies of a rollout."""
    skills: str | None = None
    """Folder of skills."""
    force: bool = False
    """Whether tasks other than the pinned ones will do."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A run, ready to be carried out."""

    plan: Plan
    """What is to be done."""
    player: Player
    """Who does it."""
    settings: Settings
    """What decides what a rollout is."""
    environment: Environment | None
    """Who judges; `None` when the player's own agent does."""
    library: Library | None = None
    """The skills."""


def make_job(benchmark: Benchmark, target: Target, wishes: Wishes) -> Job:
    """Puts a benchmark, a model and a user's wishes together."""
    if not wishes.force:
        check_data(benchmark)
    library = read_library(wishes.skills) if wishes.skills else None
    plan = plan_of(benchmark, wishes.sampling, repeats=wishes.repeats, limit=wishes.limit)
    turns = (wishes.max_turns or plan.max_turns) + (TURNS if library else 0)
    plan = msgspec.structs.replace(plan, max_turns=turns, max_rollout_tokens=wishes.max_rollout_tokens)
    settings = settings_of(plan, model=target.model, api=target.spoken, skills=library.hash if library else None)
    judged_by = f"{target.judge.model}, {target.judge.votes} votes" if target.judge else None
    settings = msgspec.structs.replace(settings, tools=target.tools, judge=judged_by, command=target.agent_cmd)
    if target.agent_url and target.agent_cmd:
        raise UsageError("--agent-url and --agent-cmd are two agents; name one.")
    if target.agent_url:
        return Job(plan=plan, player=agent_player(target), settings=settings, environment=None, library=library)
    environment = judging_environment(own_environment(plan), target.judge)
    if target.agent_cmd:
        hidden = (*target.agent.hidden, str(benchmark.root)) if target.agent.hidden else ()
        limits = msgspec.structs.replace(target.agent, seconds=target.timeout, hidden=hidden)
        player = CommandPlayer(target.agent_cmd, target.model, environment, limits, library)
        return Job(plan=plan, player=player, settings=settings, environment=environment, library=library)
    return model_job(plan, target.connect(), environment, settings=settings, library=library)


def model_job(
    plan: Plan, model: Model, environment: Environment, *, settings: Settings, library: Library | None = None
) -> Job:
    """A run in which a model plays and one of our environments judges."""
    limits = Limits(turns=plan.max_turns, tokens=plan.max_rollout_tokens)
    player = ModelPlayer(model, environment, limits, library)
    return Job(plan=plan, player=player, settings=settings, environment=environment, library=library)


def agent_player(target: Target) -> Player:
    """The player behind an agent's address."""
    from blade.evals.players import AgentPlayer

    backoff = Backoff(attempts=target.attempts, first=target.backoff)
    return AgentPlayer(target.agent_url or "", timeout=target.timeout, backoff=backoff)


def judging_environment(name: str, target: JudgeTarget | None) -> Environment:
    """An environment, with its judge where it needs one; raises when it gets none, or one that it has no use for."""
    environment = load_environment(name)
    if isinstance(environment, Judged):
        if target is None:
            raise UsageError(f"answers in '{name}' are judged by a model; name one with --judge-model.")
        return environment.with_judge(target.judge(), votes=target.votes)
    if target is not None:
        raise UsageError(f"--judge-model: '{name}' judges without a model.")
    return environment


def own_environment(plan: Plan) -> str:
    """The environment's name; raises when a plan has none."""
    if plan.environment is None:
        raise UsageError(f"{plan.benchmark} has no environment; only its own agent can run it, see --agent-url.")
    return plan.environment
