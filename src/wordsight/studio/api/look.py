"""Looking again at a video: another detector, boxes from a file, more that is said of it."""

import shutil
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, UploadFile
from starlette.exceptions import HTTPException

from wordsight.errors import WordsightError
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.detector_settings import detector_options
from wordsight.studio.uploads.folders import new_upload, upload_folder
from wordsight.studio.uploads.upload_files import keep_file

__all__ = ["router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["videos"])
Here = Annotated[Studio, Depends(studio_of)]
_BOXES = (".csv", ".txt", ".json", ".xml")
_CAPTIONS = (".srt", ".vtt", ".txt", ".jsonl")


@router.post("/look", status_code=202)
def look_again(
    studio: Here,
    video_id: str,
    detector: Annotated[str | None, Form(pattern="^[a-z]{1,40}$")] = None,
    network: Annotated[str | None, Form(pattern="^[0-9a-f]{12}$")] = None,
    settings: Annotated[str, Form(max_length=2000)] = "",
    rate: Annotated[float, Form(ge=0.1, le=1000)] = 10.0,
    force: Annotated[bool, Form()] = False,
    sentences: Annotated[str, Form(max_length=20_000)] = "",
    boxes: Annotated[UploadFile | None, File(description="instead of a detector")] = None,
    captions: Annotated[UploadFile | None, File(description="what is said of it when")] = None,
) -> JobInfo:
    """Look at a video anew, or with boxes that were sent, and add what is said of it, in a job.

    Without a detector and boxes nobody looks again; only what is said is added.
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
