"""The API under ``/api/v1``: one small file per subject."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from wordsight.studio.api import (
    align,
    attributes,
    exports,
    jobs,
    lexicon,
    live,
    meaning,
    search,
    states,
    tools,
    uploads,
    videos,
)

__all__ = ["api"]


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it; a list where several values are wrong."""

    detail: str | list[Any]


_MEANING = {
    400: "The request cannot be read.",
    404: "There is no such thing.",
    413: "Too large.",
    422: "The request is well formed, but cannot be carried out.",
}
api = APIRouter(
    prefix="/api/v1",
    responses={
        status: {"model": ErrorBody, "description": meaning} for status, meaning in _MEANING.items()
    },
)
for part in (
    videos,
    search,
    meaning,
    lexicon,
    align,
    states,
    attributes,
    live,
    exports,
    tools,
    uploads,
    jobs,
):
    api.include_router(part.router)
