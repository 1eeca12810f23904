"""Videos: listing, showing, playing and removing them, and what is seen in them."""

import mimetypes
from datetime import datetime
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from fastapi import APIRouter, Depends, Query
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel

from wordsight.errors import WordsightError
from wordsight.library import VideoEntry
from wordsight.studio.studio import Studio, studio_of
from wordsight.video import VideoReader

__all__ = ["router"]

router = APIRouter(prefix="/videos", tags=["videos"])
Here = Annotated[Studio, Depends(studio_of)]


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
    limit: Annotated[int, Query(ge=1, le=200)] = 48,
    offset: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
) -> VideoList:
    """List the videos, some at a time."""
    found = studio.library.videos(text, order=order, limit=limit, offset=offset)
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
            SentenceInfo(start=s.start, end=s.end, text=s.text, source=s.source)
            for s in details.sentences
        ],
        shots=[TimeSpan(start=shot.start, end=shot.end) for shot in details.shots],
    )


@router.delete("/{video_id}")
def remove_video(studio: Here, video_id: str) -> dict[str, list[str]]:
    """Take a video out of the library; a file that was not uploaded is left alone."""
    return {"removed": list(studio.library.remove(video_id))}


@router.get("/{video_id}/file", response_class=FileResponse)
def play_video(studio: Here, video_id: str) -> FileResponse:
    """Send the video file; parts of it where the browser asks for a range."""
    entry = studio.library.video(video_id)
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
def show_frame(
    studio: Here,
    video_id: str,
    time: Annotated[float, Query(ge=0, le=1e7)] = 0.0,
    width: Annotated[int | None, Query(ge=16, le=4096)] = None,
) -> Response:
    """Send the picture on screen at a time as JPEG, in its own size unless a width is given."""
    import cv2

    with VideoReader(studio.library.video(video_id).path) as reader:
        frame, info = reader.frame_at(time), reader.info
    image = frame.image
    if width is not None:
        image = frame.scaled(width, max(1, round(width * info.height / info.width)))
    _, data = cv2.imencode(".jpg", np.ascontiguousarray(image[..., ::-1]))
    headers = {"Cache-Control": "private, max-age=86400"}
    return Response(data.tobytes(), media_type="image/jpeg", headers=headers)


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
