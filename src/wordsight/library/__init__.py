"""A collection on disk: its catalogue in SQL, the files beside it, and work that can be resumed."""

from wordsight.library.catalog.entries import (
    AddReport,
    ArtefactEntry,
    Failure,
    LibraryProblem,
    SentenceEntry,
    Skipped,
    VerifyReport,
    VideoDetails,
    VideoEntry,
)
from wordsight.library.files.bucket import ChangedMeanwhileError
from wordsight.library.library import Library

__all__ = [
    "AddReport",
    "ArtefactEntry",
    "ChangedMeanwhileError",
    "Failure",
    "Library",
    "LibraryProblem",
    "SentenceEntry",
    "Skipped",
    "VerifyReport",
    "VideoDetails",
    "VideoEntry",
]
