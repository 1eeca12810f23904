"""Searching: by words, a sentence, a picture or a part of it, or another moment."""

import secrets
import tempfile
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from wordsight.errors import WordsightError
from wordsight.studio.api.fields import Device, Engine, Here, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.questions import QUERIES
from wordsight.studio.searching import SearchAnswer, answer, names_of, version_of
from wordsight.studio.studio import Studio
from wordsight.studio.uploads import keep_file, keep_picture
from wordsight.workflows.found_moments import FoundMoment, evidence_text
from wordsight.workflows.index import IndexSettings
from wordsight.workflows.search import (
    SearchRequest,
    SearchSettings,
    write_moments_run,
    write_moments_sheet,
)
from wordsight.workflows.search_query import read_queries
from wordsight.workflows.settings import changed
from wordsight.workflows.units import finite

__all__ = [
    "MomentInfo",
    "Pictures",
    "Results",
    "SearchBody",
    "SentSearch",
    "results_of",
    "router",
    "search_for",
    "search_with",
]

router = APIRouter(prefix="/search", tags=["search"])

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
    verdict: str | None = Field(description="likely, unsure or not likely, where it was judged")
    judged: SkipJsonSchema[tuple[float, float] | None] = Field(exclude=True)  # where they lead
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
async def search(studio: Here, wanted: Annotated[SearchBody, Query()]) -> Response:
    """Find moments by words, by a sentence, or like another moment or a part of its picture.

    It begins no job: the index answers as it is.
    """
    # What was found before needs no thread, for which it would have to wait.
    found = _kept(version_of(studio), wanted) or await aside(search_for)(studio, wanted)
    # Written here: what is a model already need not be checked to be one again.
    return Response(found.model_dump_json(), media_type="application/json")


async def sent_search(request: Request) -> SearchBody:
    """Return what is looked for, from the fields of a form: those of a search by address."""
    sent = await request.form()
    fields = {name: sent[name] for name in SearchBody.model_fields if sent.get(name)}
    try:
        return SearchBody.model_validate(fields)
    except ValidationError as error:
        wrong = [
            {**one, "loc": ("body", *one["loc"])} for one in error.errors(include_context=False)
        ]
        raise RequestValidationError(wrong) from None


SentSearch = Annotated[SearchBody, Depends(sent_search)]
Pictures = Annotated[list[UploadFile], File(max_length=8)]


@router.post("")
@aside
def search_with_jobs(studio: Here, wanted: SentSearch, image: Pictures = []) -> Results:  # noqa: B006
    """Find moments by words or by pictures that are sent; what takes long begins a job."""
    return search_with(studio, wanted, image)


@router.post("/index", status_code=202)
def index_again(studio: Here, wanted: IndexBody) -> JobInfo:
    """Bring the index up to date, with descriptions or names of what is seen, in a job."""
    return JobInfo.of(studio.begin("index", **wanted.model_dump()))


def search_for(studio: Studio, wanted: SearchBody) -> Results:
    """Search by what can be written, with the index as it is."""
    before = version_of(studio)
    found = _kept(before, wanted) or results_of(studio, answer(studio, wanted.request()))
    return _keep(studio, before, wanted, found)


_MOST_KEPT = 512  # answers, each of some kilobytes
_answers: "OrderedDict[tuple[Any, ...], Results]" = OrderedDict()
_keeping = Lock()


def _kept(version: tuple[Any, ...] | None, wanted: SearchBody) -> Results | None:
    """Return what the same search found in the same version of library, index and words."""
    key = (version, wanted.model_dump_json())
    with _keeping:
        if key in _answers:
            _answers.move_to_end(key)
        return _answers.get(key)


def _keep(
    studio: Studio, version: tuple[Any, ...] | None, wanted: SearchBody, found: Results
) -> Results:
    """Keep what a search found for those who ask the same; nothing that is not final."""
    final = found.moments and found.job is None
    if final and version is not None and version == version_of(studio):
        with _keeping:
            _answers[(version, wanted.model_dump_json())] = found
            while len(_answers) > _MOST_KEPT:
                _answers.popitem(last=False)
    return found


def search_with(
    studio: Studio, wanted: SearchBody, images: Sequence[UploadFile], *, in_job: bool = False
) -> Results:
    """Search by what was sent, pictures among it or not; jobs that are needed are begun."""
    before = None if images else version_of(studio)
    kept = _kept(before, wanted)
    if kept is not None:
        return kept
    with tempfile.TemporaryDirectory() as folder:
        pictures = tuple(
            keep_picture(image, Path(folder) / f"picture-{number}")
            for number, image in enumerate(images)
        )
        request = wanted.request().model_copy(update={"images": pictures})
        found = results_of(studio, answer(studio, request, begin=True, in_job=in_job))
    return _keep(studio, before, wanted, found)


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
        score=finite(one.score),
        by=list(one.by),
        holds=one.holds,
        verdict=one.verdict,
        judged=one.judged,
        shot=one.shot,
        said=one.said,
        meaning=[QueryWord(word=word, evidence=finite(fit)) for word, fit in one.evidence],
        heard=[_heard(term) for term in one.terms],
        visual=None if one.visual is None else finite(one.visual),
        parts=[
            PicturePart(place=p["place"], box=list(p["box"]), evidence=finite(p["evidence"]))
            for p in one.regions
        ],
        why=evidence_text(one),
    )


def _heard(term: dict[str, Any]) -> QueryWord:
    # The lowest level that has the word tells where it was said.
    where = next((level for level, number in term["counts"].items() if number), "")
    return QueryWord(word=term["word"], evidence=finite(term["evidence"]), where=where)


Same = Annotated[SearchBody, Query()]  # as the page that offers the download asked for it


_TEXTS = (".txt", ".tsv", ".run", ".trec", ".qrels", ".queries")


@router.get("/sheet", response_class=Response)
@aside
def contact_sheet(studio: Here, wanted: Same) -> Response:
    """Send what a search finds as a contact sheet, best first."""
    moments, heading = _moments(studio, wanted), wanted.text or "like this"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.png"
        write_moments_sheet(path, moments, studio.library, heading)
        headers = {"Content-Disposition": 'attachment; filename="found.png"'}
        return Response(path.read_bytes(), media_type="image/png", headers=headers)


@router.get("/run", response_class=Response)
@aside
def trec_run(studio: Here, wanted: Same) -> Response:
    """Send what a search finds as a TREC run."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.run"
        write_moments_run(path, _moments(studio, wanted), wanted.text or "like-this")
        headers = {"Content-Disposition": 'attachment; filename="found.run"'}
        return Response(path.read_bytes(), media_type="text/plain", headers=headers)


@router.post("/queries", status_code=202)
def ask_many(
    studio: Here,
    queries: Annotated[UploadFile, File(description="on each line an id and the words")],
    top: Annotated[int, Form(ge=1, le=1000)] = 100,
    expand: Annotated[bool, Form()] = False,
    engine: Annotated[Engine, Form()] = None,
    device: Annotated[Device, Form()] = None,
) -> JobInfo:
    """Answer many queries at once and keep the ranking as a TREC run, in a job."""
    name = secrets.token_hex(6)
    kept = keep_file(queries, studio.folder / QUERIES / name, _TEXTS, "file of queries")
    try:
        count = len(read_queries(kept))
    except WordsightError as error:
        kept.unlink()
        raise WordsightError(str(error).replace(str(kept), kept.name)) from None
    asked = {"top": top, "expand": expand, "engine": engine, "device": device}
    return JobInfo.of(studio.begin("queries", name=name, file=kept.name, count=count, **asked))


def _moments(studio: Studio, wanted: SearchBody) -> list[FoundMoment]:
    found, names = answer(studio, wanted.request()), names_of(studio)
    moments = [one for one in found.moments if one.video_id in names]
    if not moments:
        raise WordsightError(" ".join(found.notes) or "Nothing was found to export.")
    return moments
