"""Searching: by words, a sentence, a picture or a part of it, or another moment."""

import math
import tempfile
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Query, UploadFile
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from wordsight.studio.api.compute_options import Device, Engine
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.searching import SearchAnswer, answer, names_of
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.upload_files import keep_picture
from wordsight.workflows.found_moments import FoundMoment, evidence_text
from wordsight.workflows.index import IndexSettings
from wordsight.workflows.search import SearchRequest, SearchSettings
from wordsight.workflows.settings import changed

__all__ = [
    "MomentInfo",
    "Results",
    "SearchBody",
    "results_of",
    "router",
    "search_for",
    "search_with",
]

router = APIRouter(prefix="/search", tags=["search"])
Here = Annotated[Studio, Depends(studio_of)]
_SHORTEST = 1.0  # seconds of a preview


class SearchBody(SearchSettings):
    """What is looked for, as far as it can be written into an address."""

    model_config = ConfigDict(extra="ignore")

    text: str = changed(SearchSettings, "text", default="", max_length=500)
    like: str = changed(SearchSettings, "like", default="", max_length=400)
    region: str = changed(SearchSettings, "region", default="", max_length=100)
    top: int = changed(SearchSettings, "top", default=12, le=100)

    def request(self) -> SearchRequest:
        """Return the request; what is empty is left out."""
        return SearchRequest(**{n: v for n, v in self.model_dump().items() if v != ""})


class QueryWord(BaseModel):
    """What a word of the query says: how well it fits, or how much it tells and where."""

    word: str
    evidence: float
    where: str = ""


class PicturePart(BaseModel):
    """What a part of the picture says."""

    place: str
    box: list[float]
    evidence: float


class MomentInfo(BaseModel):
    """A moment that was found, and why."""

    video_id: str
    name: str
    start: float
    end: float
    key_time: float
    score: float
    by: list[str]
    holds: bool | None
    shot: str | None
    said: str
    meaning: list[QueryWord]
    heard: list[QueryWord]
    visual: float | None
    parts: list[PicturePart]
    why: str


class Results(BaseModel):
    """What a search came to."""

    how: str
    notes: list[str]
    nothing: bool
    job: JobInfo | None
    moments: list[MomentInfo]


class IndexBody(IndexSettings):
    """What the index holds besides what is said and what shots look like."""

    attributes: bool = Field(default=False, description="Name things in shots by taught words.")
    forget: bool = Field(default=False, description="Things in shots are named no longer.")
    language: str | None = changed(IndexSettings, "language", pattern="^[a-z]{2,20}$")
    engine: Engine = None
    device: Device = None


@router.get("", response_model=Results)
def search(studio: Here, wanted: Annotated[SearchBody, Query()]) -> Response:
    """Find moments by words, by a sentence, or like another moment or a part of its picture."""
    found = search_for(studio, wanted)
    # Written here: what is a model already need not be checked to be one again.
    return Response(found.model_dump_json(), media_type="application/json")


@router.post("")
def search_by_picture(
    studio: Here,
    image: Annotated[list[UploadFile], File(min_length=1, max_length=8)],
    text: Annotated[str | None, Form(max_length=500)] = None,
    region: Annotated[str | None, Form(max_length=100)] = None,
    top: Annotated[int, Form(ge=1, le=100)] = 12,
    weight: Annotated[float | None, Form(ge=0, le=1)] = None,
    exact: Annotated[bool, Form()] = False,
) -> Results:
    """Find moments that look like pictures or a part of one, with words beside if there are."""
    text = (text or "").strip()
    return search_with(studio, image, text=text, region=region, top=top, weight=weight, exact=exact)


@router.post("/index", status_code=202)
def index_again(studio: Here, wanted: IndexBody) -> JobInfo:
    """Bring the index up to date, with descriptions or names of what is seen, in a job."""
    return JobInfo.of(studio.begin("index", **wanted.model_dump()))


def search_for(studio: Studio, wanted: SearchBody) -> Results:
    """Search by what can be written."""
    return results_of(studio, answer(studio, wanted.request()))


def search_with(studio: Studio, images: list[UploadFile], **wanted: Any) -> Results:
    """Search by pictures that were sent, with settings of a :class:`SearchRequest`."""
    with tempfile.TemporaryDirectory() as folder:
        pictures = tuple(
            keep_picture(image, Path(folder) / f"picture-{number}")
            for number, image in enumerate(images)
        )
        settings = {name: value for name, value in wanted.items() if value not in ("", None)}
        return results_of(studio, answer(studio, SearchRequest(images=pictures, **settings)))


def results_of(studio: Studio, found: SearchAnswer) -> Results:
    """Return what the page shows of an answer."""
    names = names_of(studio)
    lost = max((one.lost_mass for one in found.moments), default=0.0)
    left_out = f"Not every box was followed: at most {lost:.2g} of all explanations is left out."
    return Results(
        how=found.how,
        notes=[*found.notes, left_out] if lost > 0 else list(found.notes),
        nothing=found.nothing,
        job=None if found.job is None else JobInfo.of(found.job),
        # A video that was removed stays in the index for a moment, but is no answer any more.
        moments=[
            _moment(one, names[one.video_id]) for one in found.moments if one.video_id in names
        ],
    )


def _moment(one: FoundMoment, name: str) -> MomentInfo:
    middle = (one.start + one.end) / 2
    return MomentInfo(
        video_id=one.video_id,
        name=name,
        start=one.start,
        end=max(one.end, one.start + _SHORTEST),
        key_time=middle if one.key_time is None else one.key_time,
        score=_finite(one.score),
        by=list(one.by),
        holds=one.holds,
        shot=one.shot,
        said=one.said,
        meaning=[QueryWord(word=word, evidence=_finite(fit)) for word, fit in one.evidence],
        heard=[_heard(term) for term in one.terms],
        visual=None if one.visual is None else _finite(one.visual),
        parts=[
            PicturePart(place=p["place"], box=list(p["box"]), evidence=_finite(p["evidence"]))
            for p in one.regions
        ],
        why=evidence_text(one),
    )


def _heard(term: dict[str, Any]) -> QueryWord:
    # The lowest level that has the word tells where it was said.
    where = next((level for level, number in term["counts"].items() if number), "")
    return QueryWord(word=term["word"], evidence=_finite(term["evidence"]), where=where)


def _finite(value: float) -> float:
    if math.isfinite(value):
        return float(value)
    return 0.0 if math.isnan(value) else math.copysign(1e9, value)
