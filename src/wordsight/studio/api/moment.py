"""One moment of a video: what is seen there, and what words could go by."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel

from wordsight.studio.moments import Measured, look_at
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["meaning"])
Here = Annotated[Studio, Depends(studio_of)]


class SeenThing(BaseModel):
    """A thing at the moment."""

    label: str
    score: float
    box: list[float]
    features: tuple[Measured, ...]


class SeenPair(BaseModel):
    """Two things at the moment, by their places in the list of things."""

    first: int
    second: int
    features: tuple[Measured, ...]


class SeenMoment(BaseModel):
    """Everything measured at one moment."""

    time: float
    things: list[SeenThing]
    pairs: list[SeenPair]


@router.get("/moment")
def show_moment(
    studio: Here, video_id: str, time: Annotated[float, Query(ge=0, le=1e7)]
) -> SeenMoment:
    """Measure what is seen at a moment: how things move, how large and how far apart they are."""
    when, things, pairs = look_at(studio.library, studio.library.resolve(video_id), time)
    return SeenMoment(
        time=when,
        things=[
            SeenThing(
                label=thing.label,
                score=round(thing.score, 3),
                box=[round(side, 1) for side in thing.box],
                features=thing.features,
            )
            for thing in things
        ],
        pairs=[
            SeenPair(first=pair.first, second=pair.second, features=pair.features) for pair in pairs
        ],
    )
