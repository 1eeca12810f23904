"""The workbench: two hands that carry out a written protocol with tools and vessels."""

from wordsight.worlds.workbench.corpus import WorkbenchFilm, workbench
from wordsight.worlds.workbench.deeds import Protocol, ProtocolSentence, Step
from wordsight.worlds.workbench.recording import WorkbenchTruth

__all__ = [
    "Protocol",
    "ProtocolSentence",
    "Step",
    "WorkbenchFilm",
    "WorkbenchTruth",
    "workbench",
]
