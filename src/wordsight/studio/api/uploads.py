"""Uploads: videos come in as bodies of requests, and a job adds them to the library."""

import errno
import shutil
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, File, Form, Query, Request, UploadFile
from fastapi import Path as InPath
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.studio.api.fields import Engine, Here
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.networks import (
    Network,
    detector_options,
    keep_network,
    list_networks,
)
from wordsight.studio.studio import UPLOAD_SUFFIXES
from wordsight.studio.uploads import harmless_name, keep_file, new_upload, upload_folder
from wordsight.workflows.add import AddRequest
from wordsight.workflows.detect import default_detector
from wordsight.workflows.settings import changed

__all__ = ["DetectorBody", "router"]

router = APIRouter(tags=["uploads"])

Batch = Annotated[str, InPath(pattern="^[0-9a-f]{16}$")]

Setting = Annotated[str, Field(max_length=200)]

_BESIDE = frozenset((".srt", ".vtt", ".jsonl", ".csv", ".txt", ".json", ".xml"))

_MOST_FILES = 5000


class DetectorBody(BaseModel):
    """How a detector looks at videos."""

    detector: str = Field(default_factory=default_detector, pattern="^[a-z,]{1,80}$")
    network: str | None = Field(default=None, pattern="^[0-9a-f]{12}$")
    settings: list[Setting] = Field(default=[], max_length=50)
    rate: float = changed(AddRequest, "rate")
    force: bool = changed(AddRequest, "force")
    engine: Engine = None


class UploadBody(DetectorBody):
    """What is to be done with the files of a batch."""

    fps: float | None = changed(AddRequest, "fps")
    size: str | None = changed(AddRequest, "size")
    sentences: list[Annotated[str, Field(max_length=2000)]] = Field(default=[], max_length=50)


class Received(BaseModel):
    """A file that has come in."""

    name: str
    size: int


@router.post("/uploads", status_code=202)
async def upload_video(
    request: Request,
    studio: Here,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    sentence: Annotated[list[str], Query(max_length=50)] = [],  # noqa: B006
    detector: Annotated[str | None, Query(pattern="^[a-z,]{1,80}$")] = None,
    network: Annotated[str | None, Query(pattern="^[0-9a-f]{12}$")] = None,
    setting: Annotated[list[str], Query(max_length=50)] = [],  # noqa: B006
    rate: Annotated[float, Query(ge=0.1, le=1000)] = 10.0,
    force: bool = False,
) -> JobInfo:
    """Take in the video that is the body of the request.

    The file's name is only a name: it is cleaned, and never says where the file goes.
    """
    how: dict[str, Any] = {
        "detector": detector or default_detector(),
        "network": network,
        "settings": setting,
    }
    detector_options(studio.folder, how)  # what is wrong is said before gigabytes are sent
    path = studio.new_upload(name)
    try:
        await _receive(request, path, studio.settings.max_upload)
    except BaseException:
        studio.drop_upload(path)
        raise
    said = [text.strip() for text in sentence if text.strip()]
    how |= {"upload": path.parent.name, "sentences": said, "rate": rate, "force": force}
    return JobInfo.of(studio.begin("add", name=path.name, **how))


@router.get("/uploads/networks")
def show_networks(studio: Here) -> list[Network]:
    """List the networks that were sent."""
    return list_networks(studio.folder)


@router.post("/uploads/networks", status_code=201)
def add_network(
    studio: Here,
    model: Annotated[UploadFile, File(description="a YOLO- or DETR-style network as ONNX")],
    labels: Annotated[UploadFile | None, File(description="names of its classes")] = None,
) -> Network:
    """Take in a detection network for the onnx detector."""
    return keep_network(studio.folder, model, labels)


@router.put("/uploads/{batch}/{name}")
async def upload_file(
    request: Request,
    studio: Here,
    batch: Batch,
    name: Annotated[str, InPath(min_length=1, max_length=300)],
) -> Received:
    """Take in one file of several that belong together: videos, captions, boxes, metadata.jsonl."""
    clean = harmless_name(name, UPLOAD_SUFFIXES | _BESIDE, "video, or captions or boxes of one")
    folder = upload_folder(studio.folder, batch)
    folder.mkdir(parents=True, exist_ok=True)
    if len(list(folder.iterdir())) >= _MOST_FILES:
        raise WordsightError(f"at most {_MOST_FILES:,} files are taken at once.")
    path = folder / clean
    try:
        size = await _receive(request, path, studio.settings.max_upload)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    return Received(name=clean, size=size)


@router.post("/uploads/{batch}", status_code=202)
def add_batch(studio: Here, batch: Batch, wanted: UploadBody) -> JobInfo:
    """Add the files of a batch to the library, in a job; captions and boxes find their videos."""
    folder = upload_folder(studio.folder, batch)
    files = sorted(path.name for path in folder.glob("*"))
    if not files:
        raise HTTPException(404)
    detector_options(studio.folder, wanted.model_dump())
    said = [text.strip() for text in wanted.sentences if text.strip()]
    title = files[0] if len(files) == 1 else f"{len(files)} files"
    asked = wanted.model_dump() | {"sentences": said, "upload": folder.name}
    return JobInfo.of(studio.begin("add", name=title, **asked))


async def _receive(request: Request, path: Path, most: int) -> int:
    """Write the body of a request into a file."""
    said = request.headers.get("content-length", "")
    if said.isdigit() and int(said) > shutil.disk_usage(path.parent).free:
        raise OSError(errno.ENOSPC, "No space left on device")
    written = 0
    with path.open("wb") as file:
        async for piece in request.stream():
            written += len(piece)
            if written > most:
                raise HTTPException(413, f"Too large: at most {most:,} bytes are taken.")
            file.write(piece)
    if not written:
        raise HTTPException(422, "The file is empty.")
    return written


_BOXES = (".csv", ".txt", ".json", ".xml")

_CAPTIONS = (".srt", ".vtt", ".txt", ".jsonl")


@router.post("/videos/{video_id}/look", status_code=202)
def look_again(
    studio: Here,
    video_id: str,
    detector: Annotated[str | None, Form(pattern="^[a-z,]{1,80}$")] = None,
    network: Annotated[str | None, Form(pattern="^[0-9a-f]{12}$")] = None,
    settings: Annotated[str, Form(max_length=2000)] = "",
    rate: Annotated[float, Form(ge=0.1, le=1000)] = 10.0,
    force: Annotated[bool, Form()] = False,
    sentences: Annotated[str, Form(max_length=20_000)] = "",
    boxes: Annotated[UploadFile | None, File(description="instead of a detector")] = None,
    captions: Annotated[UploadFile | None, File(description="what is said of it when")] = None,
) -> JobInfo:
    """Look at a video anew, or with boxes that were sent, and add what is said of it, in a job.

    Without a detector and boxes only sentences are added.
    """
    video = studio.library.resolve(video_id)
    how = {"detector": detector, "network": network, "settings": _lines(settings)}
    detector_options(studio.folder, how)
    upload = new_upload()
    folder = upload_folder(studio.folder, upload)
    try:
        if boxes is not None:
            keep_file(boxes, folder / "boxes", _BOXES, "file of boxes")
        if captions is not None:
            keep_file(captions, folder / "captions", _CAPTIONS, "file of captions")
    except (WordsightError, HTTPException):
        shutil.rmtree(folder, ignore_errors=True)
        raise
    asked = {"upload": upload, "rate": rate, "force": force, "sentences": _lines(sentences)}
    return JobInfo.of(studio.begin("look", video=video, **how, **asked))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
