"""The lexicon's pages: all words, one word with its tables drawn, and learning."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request

from wordsight.errors import WordsightError
from wordsight.meaning import ON_FILM
from wordsight.studio.api.words import FeatureTable, examples_of, word_info
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.studio.rule_sets import list_sets
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.versions import list_versions, load_version
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
        sets=[one for one in list_sets(studio.folder) if one.learned],
        taught=(studio.folder / TAUGHT).exists(),
        notes={} if lexicon is None else lexicon.notes,
        sentences=sum(video.num_sentences for video in studio.library.videos()),
        running=studio.running("learn"),
        phases=ON_FILM.phases,
    )


@router.get("/lexicon/{entry}")
def word_page(
    request: Request,
    studio: Here,
    entry: str,
    version: Annotated[int | None, Query(ge=1, le=10**6)] = None,
) -> Any:
    """Show one word, beside what it was in an earlier version if one is named."""
    word = word_info(learned_words(studio), entry)
    shares: dict[tuple[str, tuple[int, ...]], Any] = {}
    if version is not None:
        was = word_info(load_version(studio.folder, version), entry)
        shares = {(table.feature, tuple(table.roles)): table.shares for table in was.features}
    return studio.page(
        request,
        "word.html",
        here="lexicon",
        word=word,
        tables=[_beside(table, shares) for table in word.features],
        earlier=version,
        versions=list_versions(studio.folder)[:20],
    )


@router.get("/parts/examples/{entry}")
def examples_part(request: Request, studio: Here, entry: str) -> Any:
    """Show where a word fits best and worst; it takes time, so the page asks until it is known."""
    found = examples_of(studio, entry, 4)
    return studio.page(request, "parts/examples.html", examples=found, entry=entry)


def _beside(table: FeatureTable, earlier: Mapping[tuple[str, tuple[int, ...]], Any]) -> Any:
    """Return a table with the earlier shares of each state, where they are known and fit."""
    was = earlier.get((table.feature, tuple(table.roles)), [])
    fits = [len(row) for row in was] == [len(row) for row in table.shares]
    states = zip(table.shares, was if fits else [None] * len(table.shares), strict=True)
    return {"table": table, "states": list(states)}
