"""Files made of a video for download: films with drawings, boxes, sheets, facts, events."""

import io
import mimetypes
import secrets
import zipfile
from pathlib import Path
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.studio.api.fields import Here, Name
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.exports import (
    EXPORTERS,
    ExportedFile,
    export_path,
    list_exports,
    read_export,
    remove_export,
)

__all__ = ["router", "zipped"]


router = APIRouter(prefix="/made", tags=["exported files"])
Second = Annotated[float | None, Field(ge=0, le=1e7)]


class ExportBody(BaseModel):
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
        "models",
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
def make(studio: Here, wanted: ExportBody) -> JobInfo:
    """Make a file of a video, in a job."""
    maker = EXPORTERS[wanted.what]
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
) -> list[ExportedFile]:
    """List files that were made, of one video or of all, the newest first."""
    chosen = None if video is None else studio.library.resolve(video)
    return list_exports(studio.folder, chosen)


@router.get("/{name}")
def download(studio: Here, name: Name) -> FileResponse:
    """Send a file that was made."""
    made = read_export(studio.folder, name)
    kind = mimetypes.guess_type(made.file)[0] or "application/octet-stream"
    path = export_path(studio.folder, name)
    return FileResponse(path, filename=made.file, media_type=kind)


@router.delete("/{name}")
def remove(studio: Here, name: Name) -> dict[str, str]:
    """Remove a file that was made."""
    remove_export(studio.folder, name)
    return {"removed": name}


def zipped(folder: Path) -> Response:
    """Return the files of a folder as a ZIP that unpacks to a folder of the same name."""
    if not folder.is_dir():
        raise HTTPException(404)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.write(path, f"{folder.name}/{path.relative_to(folder)}")
    headers = {"Content-Disposition": f'attachment; filename="{folder.name}.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)
