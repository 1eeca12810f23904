"""Videos: listing, showing, playing and removing them, and what is seen in them."""

import mimetypes
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field

from wordsight.errors import LibraryError, WordsightError
from wordsight.library import VideoEntry
from wordsight.studio.api.fields import Here, aside
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio
from wordsight.video import VideoReader, encode_jpeg
from wordsight.workflows.export import PROXY

__all__ = ["router"]

router = APIRouter(prefix="/videos", tags=["videos"])
SentenceNumber = Annotated[int, InPath(ge=1, le=2**53)]


class LibraryVideo(BaseModel):
    """A video of the library."""

    id: str
    name: str
    duration: float
    width: int
    height: int
    frame_rate: float
    size: int
    codec: str
    added_at: datetime
    num_sentences: int
    num_shots: int

    @classmethod
    def of(cls, entry: VideoEntry) -> "LibraryVideo":
        """Take over what the library knows, but for where the file is."""
        return cls(**{name: getattr(entry, name) for name in cls.model_fields})


class VideoList(BaseModel):
    """A page of the list."""

    total: int
    videos: list[LibraryVideo]


class SentenceInfo(BaseModel):
    """Something said of a video; without times, of all of it."""

    id: int
    start: float | None
    end: float | None
    text: str
    source: str


class TimeSpan(BaseModel):
    """A stretch of time in seconds."""

    start: float
    end: float


class VideoPage(BaseModel):
    """All that is known of one video."""

    video: LibraryVideo
    sentences: list[SentenceInfo]
    shots: list[TimeSpan]


class Boxes(BaseModel):
    """What a detector saw: per frame its time, and per box the corners, class and score."""

    labels: list[str]
    frame_size: tuple[int, int] | None
    times: list[float]
    boxes: list[list[list[float]]]
    classes: list[list[int]]
    scores: list[list[float]]


@router.get("")
def list_videos(
    studio: Here,
    text: Annotated[str | None, Query(max_length=500)] = None,
    order: Literal["name", "added", "duration"] = "added",
    descending: bool = False,
    limit: Annotated[int, Query(ge=1, le=200)] = 48,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> VideoList:
    """List the videos, some at a time."""
    found = studio.library.videos(
        text, order=order, descending=descending, limit=limit, offset=offset
    )
    return VideoList(
        total=studio.library.count(text), videos=[LibraryVideo.of(one) for one in found]
    )


@router.get("/{video_id}")
def show_video(studio: Here, video_id: str) -> VideoPage:
    """Show what is known of one video."""
    details = studio.library.show(video_id)
    return VideoPage(
        video=LibraryVideo.of(details.video),
        sentences=[
            SentenceInfo(id=s.id, start=s.start, end=s.end, text=s.text, source=s.source)
            for s in details.sentences
        ],
        shots=[TimeSpan(start=shot.start, end=shot.end) for shot in details.shots],
    )


@router.delete("/{video_id}")
def remove_video(studio: Here, video_id: str) -> dict[str, list[str]]:
    """Take a video out of the library; a file that was not uploaded is left alone."""
    return {"removed": list(studio.library.remove(video_id))}


class SaidBody(BaseModel):
    """What is said of a video; without times, of all of it."""

    text: str = Field(min_length=1, max_length=2000)
    start: float | None = Field(default=None, ge=0, le=1e7)
    end: float | None = Field(default=None, ge=0, le=1e7)


@router.post("/{video_id}/sentences", status_code=201)
def say_of_video(studio: Here, video_id: str, said: SaidBody) -> list[SentenceInfo]:
    """Add a sentence to what is said of a video; answers with all of them."""
    studio.library.say(video_id, said.text, said.start, said.end)
    return show_video(studio, video_id).sentences


@router.put("/{video_id}/sentences/{number}")
def correct_sentence(
    studio: Here, video_id: str, number: SentenceNumber, said: SaidBody
) -> list[SentenceInfo]:
    """Correct a sentence that is said of a video; answers with all of them."""
    _check_said(studio, video_id, number)
    studio.library.correct_sentence(number, said.text, said.start, said.end)
    return show_video(studio, video_id).sentences


@router.delete("/{video_id}/sentences/{number}")
def remove_sentence(studio: Here, video_id: str, number: SentenceNumber) -> list[SentenceInfo]:
    """Take a sentence back that is said of a video; answers with the others."""
    _check_said(studio, video_id, number)
    studio.library.correct_sentence(number, None)
    return show_video(studio, video_id).sentences


def _check_said(studio: Studio, video_id: str, number: int) -> None:
    if number not in {one.id for one in studio.library.sentences(video_id)}:
        raise LibraryError(f"there is no sentence {number} of this video.")


@router.post("/{video_id}/playable", status_code=202)
def make_playable(studio: Here, video_id: str) -> JobInfo:
    """Make a copy of a video that every browser plays, in a job."""
    entry = studio.library.video(video_id)
    if not Path(entry.path).is_file():
        raise WordsightError(f"the file of {entry.name} is not where it was when it was added.")
    return JobInfo.of(studio.begin_once("play", video=entry.id))


@router.get("/{video_id}/file", response_class=FileResponse)
def play_video(studio: Here, video_id: str) -> FileResponse:
    """Send the video file, or its playable copy; parts of it where the browser asks for a range."""
    entry = studio.library.video(video_id)
    copies = studio.library.artefacts(PROXY, video_id=entry.id)
    if copies:
        return FileResponse(studio.library.path_of(copies[-1]), media_type="video/mp4")
    if not Path(entry.path).is_file():
        raise WordsightError(f"the file of {entry.name} is not where it was when it was added.")
    kind = mimetypes.guess_type(entry.path)[0] or "application/octet-stream"
    return FileResponse(entry.path, media_type=kind)


@router.get("/{video_id}/thumbnail", response_class=FileResponse)
def show_thumbnail(studio: Here, video_id: str) -> FileResponse:
    """Send a small picture of the video."""
    path = studio.library.thumbnail(video_id)
    return FileResponse(path, headers={"Cache-Control": "private, max-age=86400"})


@router.get("/{video_id}/frame", response_class=Response)
@aside
def show_frame(
    studio: Here,
    video_id: str,
    time: Annotated[float, Query(ge=0, le=1e7)] = 0.0,
    width: Annotated[int | None, Query(ge=16, le=4096)] = None,
) -> Response:
    """Send the picture on screen at a time as JPEG, in its own size unless a width is given."""
    with VideoReader(studio.library.video(video_id).path) as reader:
        frame, info = reader.frame_at(time), reader.info
    image = frame.image
    if width is not None:
        image = frame.scaled(width, max(1, round(width * info.height / info.width)))
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(encode_jpeg(image), media_type="image/jpeg", headers=headers)


@router.get("/{video_id}/detections")
def show_detections(
    studio: Here,
    video_id: str,
    start: Annotated[float, Query(ge=0)] = 0.0,
    end: Annotated[float, Query(ge=0)] = 60.0,
) -> Boxes:
    """Return what was seen between two times, at most ten minutes of it."""
    seen = studio.library.detections(video_id)
    rows = np.flatnonzero((seen.times >= start) & (seen.times < min(end, start + 600.0)))
    masks = [seen.mask[row] for row in rows]
    pairs = list(zip(rows, masks, strict=True))
    return Boxes(
        labels=list(seen.label_names),
        frame_size=seen.frame_size,
        times=[round(float(seen.times[row]), 4) for row in rows],
        boxes=[np.round(seen.boxes[row][mask], 1).tolist() for row, mask in pairs],
        classes=[seen.labels[row][mask].tolist() for row, mask in pairs],
        scores=[np.round(seen.scores[row][mask], 3).tolist() for row, mask in pairs],
    )
