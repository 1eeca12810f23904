"""Parameters and fields that several parts of the API have."""

from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Annotated, Literal, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from fastapi import Depends, Path
from pydantic import Field

from wordsight.studio.studio import Studio, studio_of

__all__ = ["Device", "Engine", "Here", "Name", "aside"]

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")
_computing: RunVar[CapacityLimiter] = RunVar("computing")
_COMPUTING_AT_ONCE = 2


def aside(work: Callable[Asked, Answer]) -> Callable[Asked, Awaitable[Answer]]:
    """Let a route that computes for a while do so in threads of its own, two at most.

    Those that wait for one of them keep no thread that pages need.
    """

    @wraps(work)
    async def answer(*arguments: Asked.args, **named: Asked.kwargs) -> Answer:
        try:
            limiter = _computing.get()
        except LookupError:
            limiter = CapacityLimiter(_COMPUTING_AT_ONCE)
            _computing.set(limiter)
        return await to_thread.run_sync(partial(work, *arguments, **named), limiter=limiter)

    return answer


Here = Annotated[Studio, Depends(studio_of)]
Name = Annotated[str, Path(pattern="^[0-9a-f]{12}$")]


# Not the address of a cluster: only the command line may say where code is sent.
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
