"""States: rules, sets of rules, what holds when, what happens, and why."""

import json
import secrets
import shutil
from functools import lru_cache
from typing import Annotated, Any, Literal

from fastapi import APIRouter, File, Form, Query, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.states import StateModel, StateObservations, parse_rules, parse_vocabulary
from wordsight.states.explanations import explain
from wordsight.studio.api.exports import zipped
from wordsight.studio.api.fields import Engine, Here, Name, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.states import states_file
from wordsight.studio.studio import Studio
from wordsight.studio.uploads import keep_file
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.rule_sets import (
    BOX_ENDINGS,
    LABEL_ENDINGS,
    LESSONS,
    RuleBook,
    RuleSet,
    book_of,
    list_sets,
    model_folder,
    read_rules,
    read_set,
    remove_set,
    rename_set,
    settings_in_use,
    use_set,
    write_rules,
)
from wordsight.workflows.settings import make_request
from wordsight.workflows.state_inputs import parse_kinds
from wordsight.workflows.states import FindEventsRequest, observe_inputs

__all__ = ["InferredStates", "RuleSetInfo", "RulesBody", "found_states", "router"]

router = APIRouter(prefix="/states", tags=["states"])

Text = Annotated[str, Field(max_length=100_000)]
FormText = Annotated[str, Form(max_length=100_000)]


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
    probability: float = 1.0
    answer: str = "yes"


class EventSpan(BaseModel):
    """When something happens."""

    start: float
    end: float
    event: str
    probability: float = 1.0


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
@aside
def show_things(studio: Here, video_id: str) -> list[ThingName]:
    """Say what facts about a video call the things in it, as labels to learn from must."""
    _, observations = _observed(studio, studio.library.resolve(video_id), read_rules(studio.folder))
    return [ThingName(name=one.name, kind=one.kind) for one in observations.objects]


@router.get("/videos/{video_id}/why")
@aside
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
    studio: Studio,
    video_id: str,
    rules: RuleBook,  # the rules only as part of the key
) -> tuple[StateModel, StateObservations]:
    settings = settings_in_use(studio.folder)
    settings |= {"inputs": (video_id,), "library": studio.library.location}
    request = make_request(FindEventsRequest, settings)
    model, (observations,) = observe_inputs(request, RecordingReporter())
    return model, observations


class RuleSetInfo(BaseModel):
    """Rules that can be used; ``learned`` says how they were learned, if they were."""

    name: str
    title: str
    time: float
    used: bool
    learned: dict[str, Any]
    rules: RulesBody

    @classmethod
    def of(cls, one: RuleSet, used: bool) -> "RuleSetInfo":
        """Tell of a set."""
        values = {name: getattr(one, name) for name in ("name", "title", "time", "learned")}
        return cls(**values, used=used, rules=RulesBody.of(one.book))


@router.post("/learn", status_code=202)
def learn(
    studio: Here,
    labels: Annotated[UploadFile, File(description="video, start, end, fact as CSV, or JSON")],
    boxes: Annotated[list[UploadFile], File(max_length=2000)] = [],  # noqa: B006
    videos: Annotated[list[str], Form(max_length=2000)] = [],  # noqa: B006
    title: Annotated[str, Form(max_length=100)] = "",
    kinds: FormText = "",
    rules: FormText = "",
    vocabulary: FormText = "",
    steady: Annotated[bool, Form(description="take the shake of the camera out")] = False,
    method: Annotated[
        Literal["boosted", "few", "published", "fgm"], Form(description="how rules are found")
    ] = "boosted",
    tau: Annotated[int | None, Form(ge=0, le=10**6, description="bound of the search")] = None,
    online: Annotated[bool, Form(description="look at no later moment, for live video")] = False,
    rate: Annotated[
        float | None, Form(gt=0, description="frames a second of files that have no times")
    ] = None,
    seed: Annotated[int, Form(ge=0, le=2**31)] = 0,
    engine: Annotated[Engine, Form()] = None,
) -> JobInfo:
    """Learn weighted rules from films of the library or files of boxes and labels, in a job."""
    kind_lines = [line.strip() for line in kinds.splitlines() if line.strip()]
    # What is wrong with a text is said at once, not by a job.
    parse_kinds(kind_lines), parse_rules(rules), parse_vocabulary(vocabulary)
    chosen = [studio.library.resolve(video) for video in videos]
    if not chosen and not boxes:
        raise WordsightError("choose films of the library, or send files of boxes.")
    lesson, name = secrets.token_hex(8), secrets.token_hex(6)
    folder = studio.folder / LESSONS / lesson
    try:
        keep_file(labels, folder / "labels", LABEL_ENDINGS, "file of labels")
        for one in boxes:
            keep_file(one, folder / "boxes", BOX_ENDINGS, "file of boxes")
    except (WordsightError, HTTPException):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    job = studio.begin(
        "learn-rules",
        name=name,
        title=title.strip() or f"Learned from {len(chosen) + len(boxes)} films",
        lesson=lesson,
        videos=chosen,
        kinds=kind_lines,
        rules=rules,
        vocabulary=vocabulary,
        steady=steady,
        method=method,
        tau=tau,
        online=online,
        seed=seed,
        engine=engine,
        **({} if rate is None else {"rate": rate}),
    )
    return JobInfo.of(job)


@router.get("/sets")
def show_sets(studio: Here) -> list[RuleSetInfo]:
    """List the sets of rules, the newest first."""
    now = read_rules(studio.folder)
    return [RuleSetInfo.of(one, one.book == now) for one in list_sets(studio.folder)]


@router.get("/sets/{name}")
def show_set(studio: Here, name: Name) -> RuleSetInfo:
    """Show one set of rules."""
    one = read_set(studio.folder, name)
    return RuleSetInfo.of(one, one.book == read_rules(studio.folder))


@router.post("/sets/{name}/use")
def use(studio: Here, name: Name) -> RulesBody:
    """Infer with these rules from now on; those in use become a set."""
    return RulesBody.of(use_set(studio.folder, name).book)


@router.post("/sets/{name}/compare", status_code=202)
def compare(studio: Here, name: Name) -> JobInfo:
    """Compare a set with the rules in use, on the films it was learned from, in a job."""
    read_set(studio.folder, name)
    return JobInfo.of(studio.begin("compare-rules", name=name))


@router.get("/sets/{name}/model", response_class=Response)
def export_model(studio: Here, name: Name) -> Response:
    """Send a learned model as a ZIP of the folder that ``wordsight states --model`` reads."""
    return zipped(model_folder(studio.folder, name))


class TitleBody(BaseModel):
    """What a set of rules is called."""

    title: str = Field(min_length=1, max_length=100)


@router.put("/sets/{name}")
def retitle(studio: Here, name: Name, wanted: TitleBody) -> RuleSetInfo:
    """Call a set of rules otherwise."""
    rename_set(studio.folder, name, wanted.title.strip())
    return show_set(studio, name)


@router.delete("/sets/{name}")
def forget(studio: Here, name: Name) -> dict[str, str]:
    """Forget a set of rules; the rules in use stay."""
    remove_set(studio.folder, name)
    return {"removed": name}
