"""The lexicon's pages: all words, one word with its tables drawn, and learning."""

from collections import defaultdict
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request

from wordsight.errors import WordsightError
from wordsight.studio.api.lexicon import examples_of, word_info
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.words import learned_words

__all__ = ["router"]

router = APIRouter()
Here = Annotated[Studio, Depends(studio_of)]


@router.get("/lexicon")
def lexicon_page(request: Request, studio: Here) -> Any:
    """Show all words by part of speech, and how to learn."""
    parts: dict[str, list[Any]] = defaultdict(list)
    try:
        lexicon = learned_words(studio)
        for entry in sorted(lexicon.words):
            parts[str(lexicon[entry].part)].append(lexicon[entry])
    except WordsightError:
        lexicon = None
    return studio.page(
        request,
        "lexicon.html",
        here="lexicon",
        parts=dict(sorted(parts.items())),
        known=lexicon is not None,
        notes={} if lexicon is None else lexicon.notes,
        sentences=sum(video.num_sentences for video in studio.library.videos()),
        jobs=[job for job in studio.jobs.list(limit=30) if job.kind == "learn"][:3],
    )


@router.get("/lexicon/{entry}")
def word_page(request: Request, studio: Here, entry: str) -> Any:
    """Show one word."""
    word = word_info(learned_words(studio), entry)
    return studio.page(request, "word.html", here="lexicon", word=word)


@router.get("/parts/examples/{entry}")
def examples_part(request: Request, studio: Here, entry: str) -> Any:
    """Show where a word fits best and worst; it takes time, so the page asks for it later."""
    return studio.page(request, "parts/examples.html", examples=examples_of(studio, entry, 4))
