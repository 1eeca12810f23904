"""A video's page: the film with what is seen in it, and what is said of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.making import MAKERS
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/videos/{video_id}")
def player_page(request: Request, studio: Here, video_id: str) -> Any:
    """Show one video."""
    details = studio.library.show(video_id)
    return studio.page(
        request,
        "player.html",
        here="library",
        details=details,
        video=details.video,
        makers=MAKERS,
    )
