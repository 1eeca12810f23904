"""The option that says who works, the same for every command whose work can be shared out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from wordsight.cli.output import Output

if TYPE_CHECKING:
    from wordsight.engine import Engine

__all__ = ["EngineOption", "engine_of"]

EngineOption = Annotated[
    str | None,
    typer.Option(
        "--engine",
        metavar="serial|processes|dask|tcp://…",
        help="Who works: this process, processes of this machine (processes:4), or a Dask "
        "cluster (dask:4, or its address); changes no result.",
        show_default=False,
    ),
]


@contextmanager
def engine_of(output: Output, name: str | None) -> Iterator["Engine | None"]:
    """Give the engine of a name for the time of a block, and say where it can be watched."""
    from wordsight.engine import open_engine

    with open_engine(name) as engine:
        dashboard = getattr(engine, "dashboard", None)
        if dashboard:
            output.note(f"The cluster can be watched at {dashboard}")
        yield engine
