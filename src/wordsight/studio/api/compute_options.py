"""With what a job works: who shares the work, and on which device it is computed."""

from typing import Annotated, Literal

from pydantic import Field

__all__ = ["Device", "Engine", "Prune"]

# Not the address of a cluster: whoever is at that address runs what it is sent, so it is for the
# command line to name.
Engine = Annotated[
    str | None,
    Field(
        pattern="^(serial|processes(:[1-9][0-9]{0,2})?|dask(:[1-9][0-9]{0,2})?)$",
        description="serial, processes, processes:4, dask or dask:4; changes no result",
    ),
]
Device = Annotated[
    Literal["cuda"] | None, Field(description="where to compute; the processor if left out")
]
Prune = Annotated[
    int | None, Field(ge=1, le=1000, description="boxes followed per participant and frame")
]
