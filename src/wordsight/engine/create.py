"""Choosing an engine by a few words, as the command line takes them."""

from collections.abc import Iterator
from contextlib import contextmanager

from wordsight.engine.base import Engine, EngineError
from wordsight.engine.processes import Processes
from wordsight.engine.serial import Serial

__all__ = ["create_engine", "open_engine"]


def create_engine(name: str | None) -> Engine:
    """Return the engine of a name.

    Args:
        name: ``serial``; ``processes`` or ``processes:4``; ``dask`` or ``dask:4`` for a cluster of
            processes of this machine; or the address of a Dask scheduler, ``tcp://host:8786``.
            ``None`` is ``serial``.

    Raises:
        EngineError: If there is none of that name, or it cannot be reached.
    """
    kind, _, rest = (name or "serial").partition(":")
    if kind in ("tcp", "tls", "ucx"):
        from wordsight.engine.cluster import Cluster

        return Cluster(name)
    count = _count(name or "", rest)
    if kind == "serial":
        return Serial()
    if kind == "processes":
        return Processes(count)
    if kind == "dask":
        from wordsight.engine.cluster import Cluster

        return Cluster(workers=count or 2)
    raise EngineError(
        f"there is no engine {name!r}; expected serial, processes, processes:4, dask, dask:4 or "
        "the address of a Dask scheduler, tcp://host:8786."
    )


@contextmanager
def open_engine(name: str | None) -> Iterator[Engine | None]:
    """Find the engine of a name for the time of a block, and end what was started for it.

    Args:
        name: As for :func:`create_engine`; ``None`` for no engine.
    """
    engine = None if name is None else create_engine(name)
    try:
        yield engine
    finally:
        close = getattr(engine, "close", None)
        if close is not None:
            close()


def _count(name: str, rest: str) -> int | None:
    if not rest:
        return None
    if not rest.isdigit() or int(rest) < 1:
        raise EngineError(f"{name!r} must end in a number of workers, 1 or more.")
    return int(rest)
