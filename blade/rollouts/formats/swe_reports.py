"""What evaluations of SWE-bench say of each instance: a run's report, and reports of single instances.

The harness counts what it calls resolved. An instance without a patch, one whose evaluation failed and one that was
not resolved all count as 0; an instance nobody predicted is listed as incomplete and has no score.
"""

from pathlib import Path
from typing import Any

import msgspec

from blade.errors import InputError
from blade.rollouts.formats.coercion import number_or_none
from blade.rollouts.formats.files import ANYTHING, read_json
from blade.rollouts.values import Ending, TestStatus

RUN_KEYS = (frozenset({"resolved_ids", "unresolved_ids"}), frozenset({"resolved_ids", "submitted_ids"}))
OLD_KEYS = frozenset({"resolved", "no_generation"})
"""Keys of the summaries submitted to the leaderboard."""
LOG, OUTPUT = "run_instance.log", "test_output.txt"
PATCH_FAILED = b">>>>> Patch Apply Failed"
"""What the harness writes into an instance's log when a patch does not apply."""
TIMED_OUT = b">>>>> Tests Timed Out"
KEPT = 2000
SMALL = 1 << 22
STATUSES: dict[str, TestStatus] = {"success": "passed", "failure": "failed"}
EMPTY_PATCH = Ending(kind="completed", origin="agent", name="empty_patch")


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluation says of one instance."""

    reward: float | None = None
    ending: Ending = Ending()
    tests: dict[str, TestStatus] = {}
    cost: float | None = None
    fields: dict[str, Any] = {}


NO_VERDICT = Verdict()


class RunReport(msgspec.Struct, frozen=True):
    resolved_ids: list[str] = []
    unresolved_ids: list[str] = []
    empty_patch_ids: list[str] = []
    error_ids: list[str] = []
    incomplete_ids: list[str] = []
    submitted_ids: list[str] = []
    infra_failure_ids: list[str] = []
    ambiguous_failure_ids: list[str] = []
    failure_reasons: dict[str, Any] = {}


class OldReport(msgspec.Struct, frozen=True):
    resolved: list[str] = []
    no_generation: list[str] = []
    no_logs: list[str] = []
    with_logs: list[str] = []
    generated: list[str] = []
    applied: list[str] = []
    no_apply: list[str] = []
    test_errored: list[str] = []
    test_timeout: list[str] = []


def is_run_report(keys: frozenset[str]) -> bool:
    """Whether the names in a file are those of a run's report."""
    return any(known <= keys for known in RUN_KEYS) or keys >= OLD_KEYS


def read_report(path: Path) -> dict[str, Verdict]:
    """What a run's report says, by instance.

    Raises:
        InputError: it is not a report, or one that has no rate.
    """
    data = read_json(path, ANYTHING)
    if is_details(data):
        return {name: detailed(one) for name, one in data.items()}
    if not isinstance(data, dict) or not is_run_report(frozenset(data)):
        raise InputError(f"{path}: is not the report of a SWE-bench run.")
    try:
        return old_verdicts(data) if data.keys() >= OLD_KEYS else verdicts(msgspec.convert(data, RunReport))
    except msgspec.ValidationError as error:
        raise InputError(f"{path}: {error}.") from error


def has_no_rate(data: dict[str, Any]) -> bool:
    """Whether a summary submitted to the leaderboard names what was resolved, and not everything that was tried."""
    return data.keys() >= OLD_KEYS and not any(data.get(name) for name in ("generated", "with_logs", "applied"))


def is_details(data: Any) -> bool:
    """Whether an object says of each of its instances whether it was resolved (`per_instance_details.json`)."""
    return (
        isinstance(data, dict)
        and len(data) > 1
        and all(isinstance(one, dict) and isinstance(one.get("resolved"), bool) for one in data.values())
    )


def detailed(one: dict[str, Any]) -> Verdict:
    """What such an object says of one instance."""
    fields = {name: value for name in ("api_calls",) if (value := number_or_none(one.get(name))) is not None}
    return Verdict(reward=float(one["resolved"]), cost=number_or_none(one.get("cost")), fields=fields)


def verdicts(report: RunReport) -> dict[str, Verdict]:
    """Of every instance that is listed anywhere."""
    failed = Verdict(reward=0.0)
    broken = Verdict(reward=0.0, ending=Ending(kind="error", origin="verifier", name="error"))
    found = dict.fromkeys(report.submitted_ids, failed)
    found |= {instance: Verdict(ending=Ending(kind="not_run", name="incomplete")) for instance in report.incomplete_ids}
    found |= dict.fromkeys(report.unresolved_ids, failed)
    found |= dict.fromkeys(report.error_ids, broken)
    found |= {instance: Verdict(reward=0.0, ending=EMPTY_PATCH) for instance in report.empty_patch_ids}
    for instance in report.infra_failure_ids:
        reason = report.failure_reasons.get(instance)
        ending = Ending(kind="error", origin="environment", name=reason if isinstance(reason, str) else "infra_failure")
        found[instance] = Verdict(reward=0.0, ending=ending)
    for instance in report.ambiguous_failure_ids:
        fields = {"ambiguous_failure": str(report.failure_reasons.get(instance, "unknown"))}
        found[instance] = msgspec.structs.replace(found.get(instance, failed), fields=fields)
    return found | {instance: Verdict(reward=1.0) for instance in report.resolved_ids}


def old_verdicts(data: dict[str, Any]) -> dict[str, Verdict]:
    """Of a summary submitted to the leaderboard, which lists instances by what went wrong."""
    report = msgspec.convert(data, OldReport)
    found = {name: Verdict(reward=0.0) for name in (*report.generated, *report.with_logs, *report.applied)}
    for names, ending in (
        (report.no_generation, EMPTY_PATCH),
        (report.no_logs, Ending(kind="error", origin="verifier", name="no_logs")),
        (report.no_apply, Ending(kind="error", origin="agent", name="no_apply")),
        (report.test_errored, Ending(kind="error", origin="verifier", name="test_errored")),
        (report.test_timeout, Ending(kind="timeout", origin="verifier", name="test_timeout")),
    ):
        found |= {name: Verdict(reward=0.0, ending=ending) for name in names}
    return found | {name: Verdict(reward=1.0) for name in report.resolved}


def instance_report(data: Any) -> tuple[str, dict[str, Any]] | None:
    """The one instance a report is of, and what it says."""
    if isinstance(data, dict) and len(data) == 1:
        instance, report = next(iter(data.items()))
        if isinstance(report, dict) and isinstance(report.get("resolved"), bool):
            return instance, report
    return None


def read_instance(path: Path) -> tuple[str, Verdict]:
    """What the report of one instance says, with each test and the end of the tests' output.

    Raises:
        InputError: it is no such report.
    """
    found = instance_report(read_json(path, ANYTHING))
    if found is None:
        raise InputError(f"{path}: is not the report of a SWE-bench instance.")
    instance, report = found
    return instance, Verdict(
        reward=float(report["resolved"]),
        ending=instance_ending(report, path.parent),
        tests=tests_of(report.get("tests_status")),
        fields=output_of(path.parent),
    )


def instance_ending(report: dict[str, Any], folder: Path) -> Ending:
    """Why an instance could not be judged by its tests, where it could not."""
    if report.get("infra_failure") is True:
        reason = report.get("infra_failure_reason")
        return Ending(kind="error", origin="environment", name=reason if isinstance(reason, str) else "infra_failure")
    if report.get("patch_is_None") is True or report.get("patch_exists") is False:
        return EMPTY_PATCH
    if report.get("patch_successfully_applied") is False:
        return unreported(folder)
    return Ending()


def unreported(folder: Path) -> Ending:
    """Why the tests of an instance came to nothing, by the marks the harness leaves in its log."""
    log = start_of(folder / LOG)
    if PATCH_FAILED in log:
        return Ending(kind="error", origin="agent", name="patch_apply_failed")
    if TIMED_OUT in log or TIMED_OUT in start_of(folder / OUTPUT):
        return Ending(kind="timeout", origin="verifier", name="tests_timed_out")
    return Ending(kind="error", origin="verifier", name="error")


def start_of(file: Path) -> bytes:
    try:
        with file.open("rb") as stream:
            return stream.read(SMALL)
    except OSError:
        return b""


def tests_of(statuses: Any) -> dict[str, TestStatus]:
    """Every test that was meant to pass; those expected to fail say nothing."""
    tests: dict[str, TestStatus] = {}
    for group in ("FAIL_TO_PASS", "PASS_TO_PASS"):
        outcomes = statuses.get(group) if isinstance(statuses, dict) else None
        for outcome, names in outcomes.items() if isinstance(outcomes, dict) else ():
            if outcome in STATUSES and isinstance(names, list):
                tests |= {str(name): STATUSES[outcome] for name in names}
    return tests


def output_of(folder: Path) -> dict[str, Any]:
    """The end of what the tests printed."""
    output = start_of(folder / OUTPUT).decode("utf-8", "replace").strip()[-KEPT:]
    return {"verifier_output": output} if output else {}
