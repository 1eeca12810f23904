"""States: rules, what holds when, what happens, and why."""

import json
from functools import lru_cache
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wordsight.states import StateModel, StateObservations
from wordsight.states.explanations import explain
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.states import states_file
from wordsight.studio.states import RuleBook, book_of, read_rules, write_rules
from wordsight.studio.studio import Studio, studio_of
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import make_request
from wordsight.workflows.states import FindEventsRequest, observe_inputs

__all__ = ["InferredStates", "RulesBody", "found_states", "router"]

router = APIRouter(prefix="/states", tags=["states"])
Here = Annotated[Studio, Depends(studio_of)]
Text = Annotated[str, Field(max_length=100_000)]


class RulesBody(BaseModel):
    """What states are inferred with."""

    vocabulary: Text
    rules: Text
    events: Text
    cost: float = Field(ge=0, le=1e6)
    hands: list[Annotated[str, Field(max_length=100)]] = Field(max_length=100)
    kinds: list[Annotated[str, Field(max_length=1000)]] = Field(default=[], max_length=200)
    steady: bool = Field(default=False, description="remove the shake of the camera")

    @classmethod
    def of(cls, book: RuleBook) -> "RulesBody":
        """Tell rules as they are."""
        return cls(**{**vars(book), "hands": list(book.hands), "kinds": list(book.kinds)})


class FactSpan(BaseModel):
    """When a fact holds."""

    start: float
    end: float
    fact: str


class EventSpan(BaseModel):
    """When something happens."""

    start: float
    end: float
    event: str


class InferredStates(BaseModel):
    """What holds and happens in a video."""

    video: str
    duration: float
    facts: list[FactSpan]
    events: list[EventSpan]


class ThingName(BaseModel):
    """What facts call a thing that is followed in a video, and of what kind it is."""

    name: str
    kind: str


class Why(BaseModel):
    """Which rules speak for and against the state of a moment."""

    time: float
    facts: list[str]
    violated: list[str]
    kept: list[str]
    cost: float


@router.get("/rules")
def show_rules(studio: Here) -> RulesBody:
    """Show the rules."""
    return RulesBody.of(read_rules(studio.folder))


@router.put("/rules")
def change_rules(studio: Here, rules: RulesBody) -> RulesBody:
    """Change the rules; what cannot be read is refused with a message that points at it."""
    write_rules(studio.folder, book_of(rules.model_dump()))
    return rules


@router.post("/videos/{video_id}", status_code=202)
def infer(studio: Here, video_id: str) -> JobInfo:
    """Infer the states of a video, in a job."""
    return JobInfo.of(studio.begin("states", video=studio.library.resolve(video_id)))


@router.get("/videos/{video_id}")
def show_states(studio: Here, video_id: str) -> InferredStates:
    """Show what was inferred of a video."""
    found = found_states(studio, studio.library.resolve(video_id))
    if found is None:
        raise HTTPException(404)
    return found


@router.get("/videos/{video_id}/things")
def show_things(studio: Here, video_id: str) -> list[ThingName]:
    """Say what facts about a video call the things in it, as labels to learn from must."""
    _, observations = _observed(studio, studio.library.resolve(video_id), read_rules(studio.folder))
    return [ThingName(name=one.name, kind=one.kind) for one in observations.objects]


@router.get("/videos/{video_id}/why")
def show_why(studio: Here, video_id: str, at: Annotated[float, Query(ge=0, le=1e7)]) -> Why:
    """Say which rules speak for and against the state of a moment."""
    model, observations = _observed(
        studio, studio.library.resolve(video_id), read_rules(studio.folder)
    )
    why = explain(model, observations, at)
    return Why(
        time=why.time,
        facts=[str(fact) for fact in why.facts],
        violated=[use.text for use in why.violated[:12]],
        kept=[use.text for use in why.kept[:12]],
        cost=why.cost,
    )


def found_states(studio: Studio, video_id: str) -> InferredStates | None:
    """Return what was inferred of a video, if anything was."""
    path = studio.folder / states_file(video_id)
    if not path.is_file():
        return None
    return InferredStates(**json.loads(path.read_text(encoding="utf-8")))


@lru_cache(maxsize=4)
def _observed(
    studio: Studio, video_id: str, rules: RuleBook
) -> tuple[StateModel, StateObservations]:
    settings = rules.settings() | {"inputs": (video_id,), "library": studio.library.location}
    request = make_request(FindEventsRequest, settings)
    model, (observations,) = observe_inputs(request, RecordingReporter())
    return model, observations
