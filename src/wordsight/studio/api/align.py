"""Alignments: a text timed against a video, pinned and exported."""

import json
import secrets
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as InPath
from fastapi.responses import FileResponse, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException

from wordsight.files import read_present
from wordsight.studio.api.exports import zipped
from wordsight.studio.api.fields import Here, Name
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.jobs.align import ALIGNER, ALIGNMENTS
from wordsight.studio.studio import Studio
from wordsight.workflows.align import AlignSettings

__all__ = ["SavedAlignment", "kept_alignments", "read_alignment", "router"]

router = APIRouter(prefix="/alignments", tags=["alignment"])
Pin = Annotated[str, Field(max_length=60)]


class AlignBody(AlignSettings):
    """A text to be timed."""

    video: str = Field(min_length=1, max_length=300)
    text: str = Field(min_length=1, max_length=200_000)
    pins: list[Pin] = Field(default=[], max_length=500)
    others: list[str] = Field(default=[], max_length=100)
    parses: str | None = Field(
        default=None, max_length=400_000, description="a bracketed parse for each line of the text"
    )
    seen: str | None = Field(
        default=None,
        max_length=400_000,
        description="what is touched when: ID start end thing,thing on every line",
    )
    learned: str | None = Field(
        default=None, pattern="^[0-9a-f]{12}$", description="use the words of this alignment as is"
    )
    name: str | None = Field(default=None, pattern="^[0-9a-f]{12}$")

    model_config = ConfigDict(frozen=True, extra="ignore")


class SavedAlignment(BaseModel):
    """An alignment that was made."""

    name: str
    video: str
    film: str
    duration: float
    text: str
    pins: list[str]
    others: list[str]
    mistakes: bool = False
    model: str | None = None
    parses: str | None = None
    seen: str | None = None
    learned: str | None = None
    dictionary: dict[str, list[tuple[str, float]]] = {}
    result: dict[str, Any]
    files: list[str]


@router.post("", status_code=202)
def align(studio: Here, wanted: AlignBody) -> JobInfo:
    """Time a text against a video, in a job; a name given replaces the alignment of that name."""
    studio.library.resolve(wanted.video)
    if wanted.learned is not None:
        read_alignment(studio, wanted.learned)
    name = wanted.name or secrets.token_hex(6)
    asked = wanted.model_dump() | {"name": name}
    return JobInfo.of(studio.begin("align", **asked))


@router.get("")
def list_alignments(studio: Here) -> list[SavedAlignment]:
    """List the alignments, the newest first."""
    return kept_alignments(studio)


@router.get("/{name}")
def show_alignment(studio: Here, name: Name) -> SavedAlignment:
    """Show one alignment."""
    return read_alignment(studio, name)


@router.delete("/{name}")
def remove_alignment(studio: Here, name: Name) -> dict[str, str]:
    """Remove an alignment with all its files."""
    read_alignment(studio, name)
    shutil.rmtree(studio.folder / ALIGNMENTS / name)
    return {"removed": name}


@router.get("/{name}/files/{file}", response_class=FileResponse)
def download(
    studio: Here, name: Name, file: Annotated[str, InPath(max_length=300)]
) -> FileResponse:
    """Send an alignment in one of its formats."""
    kept = read_alignment(studio, name)
    if file not in kept.files:
        raise HTTPException(404)
    return FileResponse(
        studio.folder / ALIGNMENTS / name / file,
        filename=file,
        media_type="application/octet-stream",
    )


@router.get("/{name}/aligner", response_class=Response)
def export_aligner(studio: Here, name: Name) -> Response:
    """Send what was learned, as a ZIP of the folder that ``wordsight dictionary`` reads."""
    read_alignment(studio, name)
    return zipped(studio.folder / ALIGNMENTS / name / ALIGNER)


def kept_alignments(studio: Studio) -> list[SavedAlignment]:
    """Return all alignments, the newest first."""
    folders = (studio.folder / ALIGNMENTS).glob("*/studio.json")
    dated = read_present(folders, lambda path: (path.stat().st_mtime, path.parent))
    return read_present((folder for _, folder in sorted(dated, reverse=True)[:200]), _read)


def read_alignment(studio: Studio, name: str) -> SavedAlignment:
    """Return one alignment, or answer that there is none."""
    folder = studio.folder / ALIGNMENTS / name
    if not (folder / "studio.json").is_file():
        raise HTTPException(404)
    return _read(folder)


def _read(folder: Path) -> SavedAlignment:
    kept = json.loads((folder / "studio.json").read_text(encoding="utf-8"))
    paths = [path for path in folder.iterdir() if path.is_file()]
    files = sorted(path.name for path in paths if path.name != "studio.json")
    return SavedAlignment(name=folder.name, files=files, **kept)
