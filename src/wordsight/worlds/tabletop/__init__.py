"""The tabletop: a hand that picks up, puts down, stacks and moves coloured blocks."""

from wordsight.worlds.tabletop.acts import EVENTS
from wordsight.worlds.tabletop.corpus import TabletopFilm, tabletop
from wordsight.worlds.tabletop.recording import TabletopTruth, compress

__all__ = ["EVENTS", "TabletopFilm", "TabletopTruth", "compress", "tabletop"]
