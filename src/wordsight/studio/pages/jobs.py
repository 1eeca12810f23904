"""The list of jobs, as a part of a page that renews itself while something runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.studio.studio import Studio, studio_of

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/parts/jobs")
def jobs_part(request: Request, studio: Here) -> Any:
    """Show the newest jobs."""
    return studio.page(request, "parts/jobs.html", jobs=studio.work())
