"""The page of attributes: teach with pictures and words, show a new one and hear its names."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.attributes.report import used_features
from wordsight.errors import WordsightError
from wordsight.studio.api.attributes import begun_elsewhere, lessons_of, taught
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/attributes")
def attributes_page(request: Request, studio: Here) -> Any:
    """Show the lessons and what was learned from them."""
    try:
        learner = taught(studio)
        groups = learner.attributes()
        looks = [used_features(learner, recall) for recall in learner.recalls_]
    except WordsightError:
        groups, looks = [], []
    lessons = lessons_of(studio)
    return studio.page(
        request,
        "attributes.html",
        here="attributes",
        groups=groups,
        looks=looks + [[]] * len(groups),
        lessons=lessons[:24],
        count=len(lessons),
        begun=begun_elsewhere(studio),
    )
