"""Live: a watch for sentences, begun, looked at and stopped."""

import json
import re
import secrets
import shutil
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field

from wordsight.errors import WordsightError
from wordsight.studio.api.fields import Here
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.live import LIVE, PICTURE, STATE
from wordsight.studio.jobs.store import JobRecord
from wordsight.studio.studio import Studio

__all__ = ["newest_watch", "router"]

router = APIRouter(prefix="/live", tags=["live"])

_SOURCE = re.compile(r"\d{1,3}|[A-Za-z]{3,5}://\S{1,1000}")


class LiveBody(BaseModel):
    """What is watched, and what for."""

    model_config = ConfigDict(extra="forbid")

    sentences: list[Annotated[str, Field(min_length=1, max_length=500)]] = Field(
        min_length=1, max_length=50, description="What may happen."
    )
    source: str = Field(
        "", max_length=1010, description="A camera's number, or an address such as rtsp://."
    )
    video: str = Field(
        "", max_length=400, description="A film of the library, played as if it were happening."
    )
    detector: str = Field("", max_length=100, description="Left out, the usual one.")
    rate: float = Field(10.0, gt=0, le=120, description="Frames looked at per second.")


class LiveHit(BaseModel):
    """A sentence that was true just now."""

    text: str
    start: float
    end: float
    probability: float
    delay: float
    at: str
    dropped: int


class LiveState(BaseModel):
    """How the newest watch stands."""

    job: JobInfo | None = None
    sentences: list[str] = []
    now: float = 0.0
    frames: int = 0
    hits: list[LiveHit] = []
    warnings: list[str] = []


@router.post("", status_code=202)
def begin(studio: Here, wanted: LiveBody) -> JobInfo:
    """Begin to watch, in a job that ends with the source or when it is cancelled."""
    if studio.running("watch") is not None:
        raise WordsightError("a watch is running; stop it first.")
    if bool(wanted.source) == bool(wanted.video):
        raise WordsightError("choose a film of the library, or name a camera or an address.")
    if wanted.source and not _SOURCE.fullmatch(wanted.source.strip()):
        # Files of this machine are not the page's to read: those of the library are chosen.
        raise WordsightError("a source is a camera's number, or an address such as rtsp://host/1.")
    asked = wanted.model_dump() | {"source": wanted.source.strip()}
    if wanted.video:
        asked["video"] = studio.library.resolve(wanted.video)
    shutil.rmtree(studio.folder / LIVE, ignore_errors=True)  # of watches that are over
    name = secrets.token_hex(6)
    (studio.folder / LIVE / name).mkdir(parents=True)
    return JobInfo.of(studio.begin("watch", name=name, **asked))


@router.get("")
def show(studio: Here) -> LiveState:
    """Return how the newest watch stands, and what it found."""
    job = newest_watch(studio)
    if job is None:
        return LiveState()
    state: dict[str, Any] = {}
    file = studio.folder / LIVE / job.arguments["name"] / STATE
    if file.exists():
        state = json.loads(file.read_text(encoding="utf-8"))
    return LiveState(job=JobInfo.of(job), sentences=job.arguments["sentences"], **state)


@router.get("/picture", response_class=Response)
def picture(studio: Here) -> Response:
    """Send what the newest watch sees, as JPEG with boxes."""
    job = newest_watch(studio)
    file = None if job is None else studio.folder / LIVE / job.arguments["name"] / PICTURE
    if file is None or not file.exists():
        raise HTTPException(404, "No picture yet: nothing is watched.")
    headers = {"Cache-Control": "no-store"}
    return Response(file.read_bytes(), media_type="image/jpeg", headers=headers)


def newest_watch(studio: Studio) -> JobRecord | None:
    """Return the newest watch, whether it runs or is over."""
    return next((job for job in studio.jobs.list(limit=200) if job.kind == "watch"), None)
