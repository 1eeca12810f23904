"""A video's page: the film with what is seen in it, and what is said of it."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.library import ArtefactEntry, VideoDetails
from wordsight.perception import available_detectors
from wordsight.studio.exporters import EXPORTERS
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.uploads.detector_settings import list_networks

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
        makers=EXPORTERS,
        detectors=available_detectors(),
        networks=list_networks(studio.folder),
        taught=(studio.folder / TAUGHT).exists(),
        seen=_looks(details),
    )


def _looks(details: VideoDetails) -> list[ArtefactEntry]:
    """Return what was seen in a video, by whom it was seen, the last look first."""
    looks = [one for one in details.artefacts if one.kind == "detections"]
    return sorted(looks, key=lambda one: one.created_at, reverse=True)
