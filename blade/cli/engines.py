"""Where a command's work is divided: in processes of this machine, or on a Ray cluster."""

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from blade.errors import UsageError

if TYPE_CHECKING:
    from blade.engine.cluster import Cluster


class EngineName(StrEnum):
    """Who does the work."""

    local = "local"
    ray = "ray"


@contextlib.contextmanager
def working_on(
    engine: Annotated[
        EngineName, typer.Option(help="Where work is divided: processes of this machine, or a Ray cluster.")
    ] = EngineName.local,
    ray_address: Annotated[
        str | None,
        typer.Option(
            metavar="ADDR",
            help="Ray cluster to join: HOST:PORT, ray://HOST:PORT or auto; otherwise RAY_ADDRESS, or one on this "
            "machine.",
        ),
    ] = None,
) -> "Iterator[Cluster | None]":
    """Has everything within divided by the engine; gives the cluster, if there is one.

    Raises:
        UsageError: Ray is not installed, or an address is given for nothing.
        InputError: the cluster cannot be joined, or a node of it lacks BLADE.
    """
    if engine is EngineName.local:
        if ray_address is not None:
            raise UsageError("--ray-address is only used with --engine ray.")
        yield None
        return
    from blade.engine import use
    from blade.engine.cluster import joined

    with joined(ray_address) as cluster, use(cluster):
        yield cluster
