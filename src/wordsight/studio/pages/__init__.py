"""The pages: one small file each, over the same functions as the API."""

from fastapi import APIRouter

from wordsight.studio.pages import (
    align,
    attributes,
    benchmarks,
    jobs,
    lexicon,
    library,
    made,
    player,
    search,
    states,
    tools,
)

__all__ = ["pages"]

pages = APIRouter(include_in_schema=False)
for part in (
    library,
    player,
    search,
    lexicon,
    align,
    states,
    attributes,
    tools,
    benchmarks,
    jobs,
    made,
):
    pages.include_router(part.router)
