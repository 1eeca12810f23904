"""The first page: the videos as cards, and a place to drop new ones."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from wordsight.perception import available_detectors
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.detector_settings import list_networks

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]
PER_PAGE = 48


@router.get("/")
def library_page(
    request: Request,
    studio: Here,
    text: Annotated[str, Query(max_length=500)] = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> Any:
    """Show the videos, some at a time."""
    wanted = text.strip() or None
    total = studio.library.count(wanted)
    videos = studio.library.videos(
        wanted, order="added", limit=PER_PAGE, offset=(page - 1) * PER_PAGE
    )
    return studio.page(
        request,
        "library.html",
        here="library",
        videos=videos,
        total=total,
        text=text,
        page=page,
        pages=max(1, -(-total // PER_PAGE)),
        detectors=available_detectors(),
        networks=list_networks(studio.folder),
        jobs=studio.work(),
    )
