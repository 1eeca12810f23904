"""The API under ``/api/v1``: one small file per subject."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from wordsight.studio.api import (
    align,
    attributes,
    benchmarks,
    convert,
    exports,
    jobs,
    lexicon,
    look,
    meaning,
    moment,
    naming,
    rankings,
    rule_sets,
    search,
    states,
    uploads,
    videos,
    word_edits,
)

__all__ = ["api"]


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it; a list where several values are wrong."""

    detail: str | list[Any]


_MEANING = {
    400: "The request cannot be read.",
    404: "There is no such thing.",
    413: "Too large.",
    422: "This cannot be done as it was asked for.",
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
    rankings,
    meaning,
    moment,
    naming,
    look,
    lexicon,
    word_edits,
    align,
    rule_sets,
    states,
    attributes,
    benchmarks,
    exports,
    convert,
    uploads,
    jobs,
):
    api.include_router(part.router)
