"""What the files of one Harbor trial say: its result, its configuration, its trajectory and its verifier's report."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.atif import Story
from blade.rollouts.formats.coercion import number_or_none, summed, text_or_none, whole
from blade.rollouts.formats.files import read_json
from blade.rollouts.values import Ending, EndingKind, Origin, TestStatus, Usage

RESULT, TRAJECTORY, CTRF, STDOUT = "result.json", "trajectory.json", "ctrf.json", "test-stdout.txt"
KEPT = 2000
"""Characters of a verifier's output that are kept with a trial."""


class ModelInfo(msgspec.Struct, frozen=True):
    name: str | None = None
    provider: str | None = None


class AgentInfo(msgspec.Struct, frozen=True):
    name: str
    version: Any = None
    model_info: ModelInfo | None = None


class Context(msgspec.Struct, frozen=True):
    n_input_tokens: Any = None
    n_cache_tokens: Any = None
    n_output_tokens: Any = None
    cost_usd: Any = None


class Verdict(msgspec.Struct, frozen=True):
    rewards: dict[str, Any] | None = None


class Failure(msgspec.Struct, frozen=True):
    exception_type: str
    exception_message: Any = None


class Timing(msgspec.Struct, frozen=True):
    started_at: Any = None
    finished_at: Any = None


class StepResult(msgspec.Struct, frozen=True):
    step_name: str
    agent_result: Context | None = None
    verifier_result: Verdict | None = None
    exception_info: Failure | None = None


class Task(msgspec.Struct, frozen=True):
    path: str | None = None
    name: str | None = None
    source: str | None = None


class AgentConfig(msgspec.Struct, frozen=True):
    name: str | None = None
    model_name: str | None = None
    override_timeout_sec: Any = None
    max_timeout_sec: Any = None
    kwargs: Any = None


class EnvironmentConfig(msgspec.Struct, frozen=True):
    type: Any = None


class VerifierConfig(msgspec.Struct, frozen=True):
    disable: Any = None


class Config(msgspec.Struct, frozen=True):
    task: Task = Task()
    agent: AgentConfig = AgentConfig()
    environment: EnvironmentConfig = EnvironmentConfig()
    verifier: VerifierConfig = VerifierConfig()
    timeout_multiplier: Any = None
    install_only: Any = None


class Trial(msgspec.Struct, frozen=True):
    task_name: str
    agent_info: AgentInfo
    trial_name: str | None = None
    source: str | None = None
    config: Config = Config()
    agent_result: Context | None = None
    verifier_result: Verdict | None = None
    exception_info: Failure | None = None
    started_at: Any = None
    finished_at: Any = None
    environment_setup: Timing | None = None
    agent_setup: Timing | None = None
    agent_execution: Timing | None = None
    verifier: Timing | None = None
    step_results: list[StepResult] | None = None

    @property
    def model(self) -> str | None:
        return self.agent_info.model_info.name if self.agent_info.model_info else None

    @property
    def group(self) -> str:
        """The name under which harbor adds up this trial's score."""
        return group_name(self.agent_info.name, self.model, self.source)

    @property
    def rewards(self) -> dict[str, Any] | None:
        return self.verifier_result.rewards if self.verifier_result else None

    @property
    def failure(self) -> Failure | None:
        """What was raised first: trials of several steps keep it with the step."""
        steps = (step.exception_info for step in self.step_results or ())
        return self.exception_info or next(filter(None, steps), None)


def group_name(agent: str | None, model: str | None, dataset: str | None) -> str:
    return "__".join(filter(None, (agent, model, dataset or "adhoc")))


class JobStats(msgspec.Struct, frozen=True):
    n_retries: Any = None


class Job(msgspec.Struct, frozen=True):
    n_total_trials: Any = None
    stats: JobStats = JobStats()


class Test(msgspec.Struct, frozen=True):
    name: str
    status: str | None = None
    message: Any = None
    trace: Any = None


class Tests(msgspec.Struct, frozen=True):
    tests: list[Test] = []


class Report(msgspec.Struct, frozen=True):
    results: Tests = Tests()


TRIAL = msgspec.json.Decoder(Trial)
CONFIG = msgspec.json.Decoder(Config)
JOB = msgspec.json.Decoder(Job)
REPORT = msgspec.json.Decoder(Report)
STATUSES: dict[str, TestStatus] = {
    "passed": "passed", "failed": "failed", "skipped": "skipped", "pending": "skipped", "other": "error",
}  # fmt: skip
PYTEST_LINE = re.compile(r"^(PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)
PYTEST: dict[str, TestStatus] = {
    "PASSED": "passed", "XPASS": "passed", "FAILED": "failed", "ERROR": "error", "SKIPPED": "skipped",
    "XFAIL": "skipped",
}  # fmt: skip

ENDINGS: dict[tuple[EndingKind, Origin | None, str | None], str] = {
    ("timeout", "environment", "sandbox_failed"): "EnvironmentStartTimeoutError AgentSetupTimeoutError",
    ("error", "environment", "sandbox_failed"): (
        "SandboxBuildFailedError HealthcheckError SandboxLikelyOutOfMemoryError MemoryLimitExceededError "
        "SSHAccessError GKEExecStreamClosedError GKEPodNotFoundError RuntimeRequestError AddTestsDirError "
        "DownloadVerifierDirError"
    ),
    ("timeout", "model", "model_provider_failed"): "Timeout ApiResponseStalledError",
    ("error", "model", "model_provider_failed"): (
        "ApiError ApiRateLimitError ApiInternalServerError ApiOverloadedError ApiConnectionClosedError "
        "UnknownApiError NetworkConnectionError ApiConnectionError ApiUsageLimitError RateLimitError "
        "InternalServerError ServiceUnavailableError APIConnectionError APIError BadRequestError "
        "UnprocessableEntityError UnsupportedParamsError APIResponseValidationError BudgetExceededError "
        "AgentAuthenticationError ModelNotFoundError ApiProviderResourceNotFoundError AuthenticationError "
        "PermissionDeniedError NotFoundError"
    ),
    ("error", "runner", "harbor_failed"): (
        "ServiceOperationsUnsupportedError VercelScopeError DspyImportError MissingExtraError RegradeError"
    ),
    ("timeout", "agent", "agent_exhausted_budget"): "AgentTimeoutError",
    ("limit", "agent", "agent_exhausted_budget"): (
        "ContextWindowExceededError OutputTokenExceededError ContextLengthExceededError OutputLengthExceededError"
    ),
    ("error", "agent", "agent_refused_task"): "AgentSafetyRefusalError",
    ("error", "model", "agent_refused_task"): "ContentPolicyViolationError",
    ("error", "agent", None): "NonZeroAgentExitCodeError",
    ("timeout", "verifier", "verifier_failed"): "VerifierTimeoutError",
    ("error", "verifier", "verifier_failed"): (
        "RewardFileNotFoundError RewardFileEmptyError VerifierOutputParseError"
    ),
    ("cancelled", "runner", "cancelled"): "CancelledError",
}  # fmt: skip
"""How harbor's own policy for errors classes the exceptions it knows: kind, whose doing, and harbor's word for it."""
BY_NAME = {name: typed for typed, names in ENDINGS.items() for name in names.split()}


def all_rewards(trial: Trial) -> Iterator[tuple[str, Any]]:
    yield from (trial.rewards or {}).items()
    for step in trial.step_results or ():
        rewards = step.verifier_result.rewards if step.verifier_result else None
        yield from ((f"{step.step_name}.{name}", value) for name, value in (rewards or {}).items())


def ending_of(trial: Trial) -> Ending:
    """Why a trial ended: by the exception it recorded, and for one harbor does not class, by the phase it was in."""
    failure = trial.failure
    if failure is None:
        judged = trial.rewards is not None or trial.config.verifier.disable or trial.config.install_only
        return Ending() if judged else Ending(kind="error", origin="verifier", message="no verifier result")
    kind, origin, _ = BY_NAME.get(failure.exception_type, ("error", None, None))
    return Ending(
        kind=kind,
        origin=origin if failure.exception_type in BY_NAME else phase_of(trial),
        name=failure.exception_type,
        message=text_or_none(failure.exception_message),
    )


def phase_of(trial: Trial) -> Origin | None:
    """Whose phase a trial that broke was in; while the agent ran, it may have been anybody's doing."""
    if trial.verifier is not None and trial.rewards is None:
        return "verifier"
    has_begun = trial.agent_execution is not None or trial.step_results
    setting_up = trial.environment_setup is not None or trial.agent_setup is not None
    return "environment" if setting_up and not has_begun else None


def story_of(folder: Path, trial: Trial) -> tuple[Story, str | None]:
    """The trajectory of a trial, step by step if it has several, and what of it cannot be read."""
    story, unread = Story(), None
    parts = [folder / "steps" / step.step_name for step in trial.step_results or () if is_name(step.step_name)]
    for part in (folder, *parts):
        file = part / "agent" / TRAJECTORY
        if file.is_file():
            try:
                story.add_file(file)
            except InputError as error:
                unread = str(error).removesuffix(".")
    return story, unread


def is_name(text: str) -> bool:
    return text not in ("", ".", "..") and not set(text) & {"/", "\\", "\0"}


def tests_of(folder: Path, trial: Trial) -> tuple[dict[str, TestStatus], str | None]:
    """Each test's outcome, and what those that failed said; a step's tests stand under its name."""
    tests: dict[str, TestStatus] = {}
    said: list[str] = []
    steps = [
        (f"{s.step_name}/", folder / "steps" / s.step_name) for s in trial.step_results or () if is_name(s.step_name)
    ]
    for prefix, part in (("", folder), *steps):
        found, output = verifier_tests(part / "verifier")
        tests |= {prefix + name: status for name, status in found.items()}
        said += [output] if output else []
    return tests, "\n".join(said)[:KEPT] or None


def verifier_tests(folder: Path) -> tuple[dict[str, TestStatus], str]:
    """Tests from a CTRF report, else from the summary that pytest prints."""
    try:
        listed = read_json(folder / CTRF, REPORT).results.tests if (folder / CTRF).is_file() else []
    except InputError:
        listed = []
    if listed:
        failed = [test for test in listed if STATUSES.get(test.status or "") not in ("passed", "skipped")]
        said = [f"{test.name}: {text_or_none(test.message) or text_or_none(test.trace) or ''}" for test in failed]
        return {test.name: STATUSES.get(test.status or "", "error") for test in listed}, "\n".join(said)
    try:
        output = (folder / STDOUT).read_text("utf-8", "replace") if (folder / STDOUT).is_file() else ""
    except OSError:
        output = ""
    return {name.strip(): PYTEST[word] for word, name in PYTEST_LINE.findall(output)}, output[-KEPT:]


def settings_of(trial: Trial) -> dict[str, Any]:
    """What a trial was made with: versions, limits, and the agent's own options where they are single values."""
    config = trial.config
    options = config.agent.kwargs if isinstance(config.agent.kwargs, dict) else {}
    settings = {
        "agent_version": trial.agent_info.version, "environment": config.environment.type,
        "timeout_multiplier": config.timeout_multiplier, "agent_timeout": config.agent.override_timeout_sec,
        "max_agent_timeout": config.agent.max_timeout_sec, **options,
    }  # fmt: skip
    return {name: value for name, value in settings.items() if isinstance(value, str | int | float)}


def usage_of(trial: Trial, story: Story) -> Usage:
    """What the agent reported, over all steps; what it did not, the trajectory may."""
    steps = (step.agent_result for step in trial.step_results or ())
    each = [trial.agent_result] if trial.agent_result else list(filter(None, steps))
    reported = {
        "input_tokens": summed(whole(one.n_input_tokens) for one in each),
        "output_tokens": summed(whole(one.n_output_tokens) for one in each),
        "cached_tokens": summed(whole(one.n_cache_tokens) for one in each),
        "cost": summed(number_or_none(one.cost_usd) for one in each),
    }
    known = {name: value for name, value in reported.items() if value is not None}
    return msgspec.structs.replace(story.usage, **known)
