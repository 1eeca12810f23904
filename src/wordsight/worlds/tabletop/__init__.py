"""The tabletop: a hand that picks up, puts down, stacks and moves coloured blocks."""

from wordsight.worlds.tabletop.corpus import TabletopFilm, tabletop
from wordsight.worlds.tabletop.events import EVENTS
from wordsight.worlds.tabletop.truth import TabletopTruth, compress

__all__ = ["EVENTS", "TabletopFilm", "TabletopTruth", "compress", "tabletop"]
