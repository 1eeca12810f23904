"""The list of files that were made of a video, as a part of several pages."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.exports import list_exports
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/parts/made")
def rankings_part(request: Request, studio: Here) -> Any:
    """Show what was made of no video in particular: rankings."""
    return studio.page(request, "parts/made.html", made=list_exports(studio.folder, ""))


@router.get("/parts/made/{video_id}")
def made_part(request: Request, studio: Here, video_id: str) -> Any:
    """Show what was made of a video."""
    made = list_exports(studio.folder, studio.library.resolve(video_id))
    return studio.page(request, "parts/made.html", made=made)
