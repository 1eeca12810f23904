"""Changing words by hand: trying a change out, saving it, and going back."""

from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Path
from pydantic import BaseModel, Field

from wordsight.studio.api.jobs import JobInfo
from wordsight.studio.api.words import WordInfo, word_info
from wordsight.studio.editing import edited
from wordsight.studio.studio import Studio, studio_of
from wordsight.studio.versions import (
    Version,
    keep_version,
    list_versions,
    load_version,
    restore_version,
)
from wordsight.studio.words import learned_words, words_folder
from wordsight.workflows.annotator import load_annotator, save_lexicon

__all__ = ["router"]

router = APIRouter(prefix="/lexicon", tags=["lexicon"])
Here = Annotated[Studio, Depends(studio_of)]
Number = Annotated[int, Path(ge=1, le=10**6)]
_changing = Lock()  # two changes at once must not lose one of them


class Edit(BaseModel):
    """A new distribution for one state and one feature of a word."""

    feature: str = Field(max_length=100)
    roles: list[int] = Field(max_length=4)
    state: int = Field(ge=0, le=50)
    shares: list[float] = Field(min_length=1, max_length=500)


class EditsBody(BaseModel):
    """Everything that is to change about a word."""

    edits: list[Edit] = Field(min_length=1, max_length=500)


class CompareBody(BaseModel):
    """What is compared: the lexicon of now with edits, and the lexicon of a version, or of now."""

    edits: list[Edit] = Field(default=[], max_length=500)
    version: int | None = Field(default=None, ge=1, le=10**6)


@router.put("/words/{entry}")
def edit_word(studio: Here, entry: str, wanted: EditsBody) -> WordInfo:
    """Change distributions of a word; shares are scaled to sum to one, and the old word is kept."""
    with _changing:
        changed = edited(learned_words(studio), entry, _plain(wanted.edits))
        keep_version(studio.folder, f"before {entry} was changed by hand")
        folder = words_folder(studio)
        save_lexicon(changed, folder, load_annotator(folder), overwrite=True)
    return word_info(changed, entry)


@router.post("/words/{entry}/compare", status_code=202)
def compare_word(studio: Here, entry: str, wanted: CompareBody) -> JobInfo:
    """Score the library's sentences with a word before and after a change, in a job."""
    edits = _plain(wanted.edits)
    edited(learned_words(studio), entry, edits)  # says at once what is wrong
    if wanted.version is not None:
        load_version(studio.folder, wanted.version)
    return JobInfo.of(studio.begin("compare", entry=entry, edits=edits, version=wanted.version))


@router.get("/versions")
def show_versions(studio: Here) -> list[Version]:
    """List the earlier lexicons, the latest first."""
    return list_versions(studio.folder)


@router.post("/versions/{number}/restore")
def restore(studio: Here, number: Number) -> Version:
    """Go back to an earlier lexicon; the one of now is kept as a version."""
    with _changing:
        restore_version(studio.folder, number)
    return list_versions(studio.folder)[0]


def _plain(edits: list[Edit]) -> list[dict[str, object]]:
    return [edit.model_dump() for edit in edits]
