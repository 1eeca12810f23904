"""A collection on disk: its catalogue in SQL, the files beside it, and work that can be resumed."""

from wordsight.library.entries import (
    AddReport,
    ArtefactEntry,
    Failure,
    Problem,
    SentenceEntry,
    Skipped,
    VerifyReport,
    VideoDetails,
    VideoEntry,
)
from wordsight.library.library import Library
from wordsight.library.mirror import ChangedMeanwhileError

__all__ = [
    "AddReport",
    "ArtefactEntry",
    "ChangedMeanwhileError",
    "Failure",
    "Library",
    "Problem",
    "SentenceEntry",
    "Skipped",
    "VerifyReport",
    "VideoDetails",
    "VideoEntry",
]
