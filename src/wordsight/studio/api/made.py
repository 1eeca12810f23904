"""Files made of a video, to be taken away: films with drawings, boxes, sheets, facts, events."""

import mimetypes
import secrets
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from fastapi import Path as InPath
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field

from wordsight.errors import WordsightError
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.made import Made, list_made, made_file, read_made, remove_made
from wordsight.studio.making import MAKERS
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter(prefix="/made", tags=["files to take away"])
Here = Annotated[Studio, Depends(studio_of)]
Name = Annotated[str, InPath(pattern="^[0-9a-f]{12}$")]
Second = Annotated[float | None, Field(ge=0, le=1e7)]


class Wanted(BaseModel):
    """A file to be made of a video; which values count depends on what it is."""

    video: str = Field(min_length=1, max_length=300)
    what: Literal[
        "film-boxes",
        "film-tracks",
        "film-sentence",
        "film-lines",
        "film-facts",
        "boxes",
        "tracks",
        "sheet",
        "facts",
        "events",
        "timeline",
    ]
    ending: str | None = Field(default=None, pattern="^[.][a-z0-9]{2,4}$")
    sentence: str | None = Field(default=None, min_length=1, max_length=500)
    start: Second = None
    end: Second = None
    whole: bool = Field(default=False, description="a long film as one event, for a sentence")
    prune: int | None = Field(default=None, ge=1, le=1000)
    alignment: str | None = Field(default=None, pattern="^[0-9a-f]{12}$")
    everything: bool = Field(default=False, description="also events that are part of others")


@router.post("", status_code=202)
def make(studio: Here, wanted: Wanted) -> JobInfo:
    """Make a file of a video, in a job."""
    maker = MAKERS[wanted.what]
    if wanted.ending is not None and wanted.ending not in maker.endings:
        raise WordsightError(
            f"{wanted.what} can be written as {', '.join(maker.endings)}, not {wanted.ending}."
        )
    if wanted.what == "film-sentence" and not (wanted.sentence or "").strip():
        raise WordsightError("say which sentence the film is about.")
    video = studio.library.resolve(wanted.video)
    asked = wanted.model_dump(exclude_none=True) | {"video": video, "name": secrets.token_hex(6)}
    return JobInfo.of(studio.begin("make", title=maker.title, **asked))


@router.get("")
def show_made(
    studio: Here, video: Annotated[str | None, Query(max_length=300)] = None
) -> list[Made]:
    """List files that were made, of one video or of all, the newest first."""
    chosen = None if video is None else studio.library.resolve(video)
    return list_made(studio.folder, chosen)


@router.get("/{name}")
def take_away(studio: Here, name: Name) -> FileResponse:
    """Send a file that was made."""
    made = read_made(studio.folder, name)
    kind = mimetypes.guess_type(made.file)[0] or "application/octet-stream"
    path = made_file(studio.folder, name)
    return FileResponse(path, filename=made.file, media_type=kind)


@router.delete("/{name}")
def remove(studio: Here, name: Name) -> dict[str, str]:
    """Remove a file that was made."""
    remove_made(studio.folder, name)
    return {"removed": name}
