"""The search page: one box for words and sentences, a picture, a region, and what was found."""

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, File, Form, Query, Request, UploadFile

from wordsight.errors import WordsightError
from wordsight.retrieval.text import stemming_languages
from wordsight.studio.api.search import SearchBody, search_for, search_with
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.studio.searching import index_job
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import words_stamp
from wordsight.workflows.search_query import parse_moment

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]
Sought = Annotated[SearchBody, Query()]


@router.get("/search")
def search_page(request: Request, studio: Here, wanted: Sought) -> Any:
    """Show the box; what was found is asked for by the page itself, since it may take a while."""
    index_job(studio)
    return studio.page(
        request,
        "search.html",
        here="search",
        **wanted.model_dump(),
        moment=_moment(studio, wanted.like),
        languages=(*stemming_languages(), "none"),
        known=bool(words_stamp(studio)),
        taught=(studio.folder / TAUGHT).exists(),
    )


@router.get("/parts/search")
def found_part(request: Request, studio: Here, wanted: Sought) -> Any:
    """Show what was found."""
    try:
        found = search_for(studio, wanted)
    except WordsightError as error:
        return studio.page(request, "parts/found.html", problem=str(error))
    same = urlencode(wanted.model_dump(exclude_defaults=True))
    return studio.page(request, "parts/found.html", found=found, asked=wanted, same=same)


@router.post("/parts/search")
def pictured_part(
    request: Request,
    studio: Here,
    image: Annotated[list[UploadFile], File(min_length=1, max_length=8)],
    text: Annotated[str, Form(max_length=500)] = "",
    region: Annotated[str, Form(max_length=100)] = "",
    weight: Annotated[float | None, Form(ge=0, le=1)] = None,
    top: Annotated[int, Form(ge=1, le=100)] = 12,
    exact: Annotated[bool, Form()] = False,
) -> Any:
    """Show what looks like a picture."""
    try:
        found = search_with(
            studio, image, text=text.strip(), region=region, top=top, weight=weight, exact=exact
        )
    except WordsightError as error:
        return studio.page(request, "parts/found.html", problem=str(error))
    return studio.page(request, "parts/found.html", found=found)


def _moment(studio: Studio, like: str) -> dict[str, Any] | None:
    """Return the moment to look for more of, if there is one."""
    try:
        moment = parse_moment(like or None)
        if moment is None:
            return None
        video = studio.library.video(studio.library.resolve(moment[0]))
    except WordsightError:
        return None  # what is wrong is said where the results would be
    return {"id": video.id, "name": video.name, "time": moment[1]}
