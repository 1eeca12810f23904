"""The pages of alignments: a list with a form, and one alignment beside its video."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.api.align import Name, kept_alignments, read_alignment
from wordsight.studio.studio import Studio, studio_of
from wordsight.workflows.align import ALIGNMENT_MODELS

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/align")
def align_page(request: Request, studio: Here, video: str = "") -> Any:
    """Show the alignments, and a form for another one."""
    return studio.page(
        request,
        "align.html",
        here="align",
        alignments=kept_alignments(studio),
        videos=studio.library.videos(order="added", limit=500),
        chosen=video,
        models=ALIGNMENT_MODELS,
    )


@router.get("/align/{name}")
def alignment_page(request: Request, studio: Here, name: Name) -> Any:
    """Show one alignment."""
    return studio.page(request, "alignment.html", here="align", kept=read_alignment(studio, name))
