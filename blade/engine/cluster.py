"""Divided work on a Ray cluster: one that is running, or one started on this machine.

Ray schedules, retries what a killed worker or node was doing, moves results between nodes and spills them to disk.
What is added here is order, a tree of merges, and one sentence for whatever keeps a cluster from working.
"""

import contextlib
import os
import socket
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from blade._version import __version__
from blade.engine import Done, nobody
from blade.errors import InputError, UsageError

Task = TypeVar("Task")
Result = TypeVar("Result")

INSTALL = "--engine ray needs Ray: pip install 'blade-diagnostics[ray]'."
MERGED = 8
"""Neighbours that are merged at a time."""
AHEAD = 4
"""Tasks per worker that are handed out before their results are taken."""
RETRIES = 5
"""How often a task is begun again after its worker or node went away."""
PATIENCE = 5.0
"""Seconds in which an address must answer."""
PROBE = 60.0
"""Seconds in which every node must say which BLADE it has."""
BETWEEN = 1.0
"""Seconds between two looks at a cluster, so that Ctrl-C is heard."""


class Cluster:
    """Workers of a Ray cluster."""

    def __init__(self, address: str | None = None) -> None:
        self.ray = load_ray()
        self._ours = not self.ray.is_initialized()
        if self._ours:
            connect(self.ray, address)
        try:
            check_nodes(self.ray)
            self.workers = max(1, int(self.ray.cluster_resources().get("CPU", 1)))
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Leaves the cluster, and ends it if it was started here."""
        if self._ours:
            self.ray.shutdown()

    def map(
        self, function: Callable[[Task], Result], tasks: Sequence[Task], *, done: Done = nobody
    ) -> Iterator[Result]:
        call, shared = remote_call(self.ray), self.ray.put(function)
        ahead = AHEAD * self.workers
        running = [call.remote(shared, task) for task in tasks[:ahead]]
        for number in range(len(tasks)):
            result = self._result(running.pop(0))
            if number + ahead < len(tasks):
                running.append(call.remote(shared, tasks[number + ahead]))
            done(number + 1)
            yield result

    def reduce(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        merge: Callable[[list[Result]], Result],
        *,
        done: Done = nobody,
    ) -> Result:
        call, shared, merging = remote_call(self.ray), self.ray.put(function), self.ray.put(merge)
        level = leaves = [call.remote(shared, task) for task in tasks]
        join = remote_merge(self.ray)
        while len(level) > 1:
            level = [join.remote(merging, *level[at : at + MERGED]) for at in range(0, len(level), MERGED)]
        waiting = leaves
        while waiting:
            ready, waiting = self.ray.wait(waiting, num_returns=len(waiting), timeout=BETWEEN, fetch_local=False)
            if ready:
                done(len(leaves) - len(waiting))
        result: Result = self._result(level[0])
        return result

    def _result(self, reference: Any) -> Any:
        try:
            return self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            raise (error.cause or error) from None
        except self.ray.exceptions.RayError as error:
            raise lost(error) from error


def load_ray() -> Any:
    """The library.

    Raises:
        UsageError: it is not installed.
    """
    # Told before it is loaded: a diagnosis tells nobody that it was made, and a driver takes no part in the work.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ImportError as error:
        raise UsageError(INSTALL) from error
    return ray


def connect(ray: Any, address: str | None) -> None:
    """Joins the cluster at an address; without one, the one `RAY_ADDRESS` names, or a new one on this machine.

    Raises:
        InputError: nothing there answers.
    """
    wanted = address or os.environ.get("RAY_ADDRESS")
    if wanted:
        check_address(wanted)
    told = {name: value for name, value in os.environ.items() if name.startswith("BLADE_")}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ray.init(
                address=wanted or "local",
                runtime_env={"env_vars": told} if told else None,
                include_dashboard=None if wanted else False,
                log_to_driver=False,
                logging_level="CRITICAL",
            )
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise InputError(
            f"the Ray cluster at {wanted or 'this machine'} cannot be joined: {in_short(error)}."
        ) from error


def check_address(address: str) -> None:
    """Raises `InputError` unless something listens at `host:port`; Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host and address in ("auto", "local"):
        return
    if not host or not port.isdigit():
        raise UsageError(f"--ray-address {address}: is not an address; expected HOST:PORT, ray://HOST:PORT or auto.")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"no Ray cluster answers at {address}: {reason}.") from error


def check_nodes(ray: Any) -> None:
    """Raises `InputError` unless every node has this version of BLADE."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    # A nested function travels by value, so it runs where nothing of ours is installed.
    def version() -> str:
        try:
            from blade._version import __version__ as found
        except ImportError as error:
            return f"!{error}"
        return found

    ask = ray.remote(num_cpus=0, max_retries=1)(version)
    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = [
        ask.options(scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)).remote()
        for node in nodes
    ]
    for node, question in zip(nodes, asked, strict=True):
        try:
            found = ray.get(question, timeout=PROBE)
        except ray.exceptions.TaskUnschedulableError:
            continue  # a node that has just gone
        except ray.exceptions.RayError as error:
            raise lost(error) from error
        where = f"the Ray node {node['NodeManagerAddress']}"
        if found.startswith("!"):
            raise InputError(
                f"{where} cannot import BLADE ({found[1:]}): install blade-diagnostics {__version__} there."
            )
        if found != __version__:
            raise InputError(f"{where} has BLADE {found}, this machine {__version__}: install the same on both.")


def remote_call(ray: Any) -> Any:
    """One task, as Ray runs it."""

    def call(function: Callable[[Any], Any], task: Any) -> Any:
        return function(task)

    return ray.remote(num_cpus=1, max_retries=RETRIES)(call)


def remote_merge(ray: Any) -> Any:
    """One merge of neighbours, as Ray runs it."""

    def merge(function: Callable[[list[Any]], Any], *results: Any) -> Any:
        return function(list(results))

    return ray.remote(num_cpus=1, max_retries=RETRIES)(merge)


def lost(error: Exception) -> InputError:
    """What to say when a cluster gives up on something."""
    return InputError(f"the Ray cluster could not finish the work: {in_short(error)}.")


def in_short(error: Exception) -> str:
    """The first line of what Ray says went wrong."""
    lines = (line.strip() for line in str(error).splitlines())
    return (next((line for line in lines if line), "") or type(error).__name__)[:300].rstrip(".")


@contextlib.contextmanager
def joined(address: str | None) -> Iterator[Cluster]:
    """A cluster for as long as it is needed."""
    cluster = Cluster(address)
    try:
        yield cluster
    finally:
        cluster.close()
