"""Uploads: a video comes in as the body of a request, and a job adds it to the library."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.exceptions import HTTPException

from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter(prefix="/uploads", tags=["uploads"])
Here = Annotated[Studio, Depends(studio_of)]


@router.post("", status_code=202)
async def upload_video(
    request: Request,
    studio: Here,
    name: Annotated[str, Query(min_length=1, max_length=300)],
    sentence: Annotated[list[str], Query(max_length=50)] = [],  # noqa: B006
    detector: Annotated[str, Query(pattern="^[a-z]{1,40}$")] = "regions",
) -> JobInfo:
    """Take in the video that is the body of the request.

    The file's name is only a name: it is cleaned, and never says where the file goes.
    """
    path = studio.new_upload(name)
    most = studio.settings.max_upload
    written = 0
    try:
        with path.open("wb") as file:
            async for piece in request.stream():
                written += len(piece)
                if written > most:
                    raise HTTPException(413, f"Too large: at most {most:,} bytes are taken.")
                file.write(piece)
        if not written:
            raise HTTPException(422, "The file is empty.")
    except BaseException:
        studio.drop_upload(path)
        raise
    said = [text.strip() for text in sentence if text.strip()]
    job = studio.begin(
        "add", upload=path.parent.name, name=path.name, sentences=said, detector=detector
    )
    return JobInfo.of(job)
