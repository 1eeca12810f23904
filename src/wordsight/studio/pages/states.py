"""The page of states: rules beside bands of facts over time, and why a moment is as it is."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.api.states import found_states
from wordsight.studio.exporters import EXPORTERS
from wordsight.studio.rule_sets import list_sets
from wordsight.studio.states import read_rules
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/states")
def states_page(request: Request, studio: Here, video: str = "") -> Any:
    """Show a video's states, and the rules."""
    chosen = studio.library.video(video) if video else None
    return studio.page(
        request,
        "states.html",
        here="states",
        videos=studio.library.videos(order="added", limit=500),
        chosen=chosen,
        found=found_states(studio, chosen.id) if chosen else None,
        book=read_rules(studio.folder),
        makers=EXPORTERS,
        sets=list_sets(studio.folder),
        running=studio.running("learn-rules"),
    )
