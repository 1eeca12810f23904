"""The API under ``/api/v1``: one small file per subject."""

from fastapi import APIRouter

from wordsight.studio.api import (
    align,
    attributes,
    benchmarks,
    jobs,
    lexicon,
    meaning,
    search,
    states,
    uploads,
    videos,
)

__all__ = ["api"]

api = APIRouter(prefix="/api/v1")
for part in (
    videos,
    search,
    meaning,
    lexicon,
    align,
    states,
    attributes,
    benchmarks,
    uploads,
    jobs,
):
    api.include_router(part.router)
