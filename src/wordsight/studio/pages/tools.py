"""The page of tools for files: convert one, answer many queries, measure a ranking."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.api.rankings import MEASURES
from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/tools")
def tools_page(request: Request, studio: Here) -> Any:
    """Show the tools."""
    return studio.page(request, "tools.html", here="tools", measures=MEASURES)
