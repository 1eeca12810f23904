"""Naming what is seen in a video by taught words: all things, or a part of one picture."""

from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import BaseModel, Field

from wordsight.attributes.recall.videos import crop_box
from wordsight.studio.api.attributes import PictureNames, taught, taught_folder
from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.studio import Studio, studio_of
from wordsight.video import VideoReader

__all__ = ["router"]

router = APIRouter(prefix="/videos/{video_id}", tags=["attributes"])
Here = Annotated[Studio, Depends(studio_of)]
Corner = Annotated[float, Field(ge=-1e5, le=1e5)]


class FrameRegion(BaseModel):
    """A moment of a video, and a part of its picture: corners x1, y1, x2, y2 in pixels."""

    time: float = Field(ge=0, le=1e7)
    box: tuple[Corner, Corner, Corner, Corner] | None = None


@router.post("/names", status_code=202)
def name_things(studio: Here, video_id: str) -> JobInfo:
    """Name all things that were seen in a video, in a job."""
    video = studio.library.resolve(video_id)
    stamp = (taught_folder(studio) / "model.json").stat().st_mtime_ns
    return JobInfo.of(studio.begin_once("name", video=video, stamp=stamp))


@router.post("/name")
def name_part(studio: Here, video_id: str, part: FrameRegion) -> PictureNames:
    """Say all words for the picture at a moment, or for a part of it."""
    learner = taught(studio)
    with VideoReader(studio.library.video(video_id).path) as reader:
        image = reader.frame_at(part.time).image
    return PictureNames.of(learner.name(image if part.box is None else crop_box(image, part.box)))
