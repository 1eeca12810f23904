"""`TextIndex`: the language models of an index on disk, with shares learned from its own words."""

import json
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from wordsight.files import write_text
from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.segments import Stretch
from wordsight.retrieval.text.analysis import Analyser
from wordsight.retrieval.text.interpolation_weights import learned_interpolation
from wordsight.retrieval.text.model import LanguageModel, Shard
from wordsight.retrieval.text.part import LEVELS, TEXT, text_shards
from wordsight.retrieval.text.queries import TextQuery
from wordsight.retrieval.text.smoothing import Interpolation

if TYPE_CHECKING:
    from wordsight.retrieval.index import Index

__all__ = ["DEFAULT_SHARES", "TextIndex"]

DEFAULT_SHARES = (0.35, 0.2, 0.15)
"""Shares of shot, scene and video before anything is learned; the collection has the rest."""

_BELIEF = 200.0
"""Words that the default shares count for: a handful of captions should not overturn them."""

_NOTES = "text-shares.json"


class TextIndex:
    """The words of all documents, ready to be asked.

    Args:
        stretches: Segments with a text part, and their documents that count.
        analyser: What cut the texts into terms.
        folder: Where learned shares are kept; they are not if left out.
        generation: Which state of the index this is.
    """

    def __init__(
        self,
        stretches: Sequence[Stretch],
        analyser: Analyser,
        folder: Path | None = None,
        generation: int = 0,
    ) -> None:
        self.analyser = analyser
        self._stretches = tuple(stretches)
        self._folder, self._generation = folder, generation

    @classmethod
    def of(cls, index: "Index") -> Self:
        """Open the text part of an index.

        Raises:
            RetrievalError: If it has none.
        """
        analyser = Analyser.from_json(index.settings(TEXT))
        return cls(index.stretches, analyser, index.folder, index.generation)

    @cached_property
    def model(self) -> LanguageModel:
        """The language models, smoothed with scene, video and collection."""
        return LanguageModel(self._shards, self.smoothing)

    @cached_property
    def smoothing(self) -> Interpolation:
        """The learned shares of shot, scene and video."""
        kept = self._kept()
        if kept is not None:
            return kept
        learned = self._learned()
        self._keep(learned)
        return learned

    def query(self, text: str) -> TextQuery:
        """Make a query of a text."""
        return TextQuery.of(text, self.analyser)

    @cached_property
    def _shards(self) -> list[Shard]:
        return text_shards(self._stretches)

    def _learned(self) -> Interpolation:
        prior = _BELIEF * np.append(DEFAULT_SHARES, 1 - sum(DEFAULT_SHARES))
        words = [shard.levels.postings[0].num_words for shard in self._shards]
        if not sum(words):
            return Interpolation(DEFAULT_SHARES)
        # The largest segment stands for all: shares of a few numbers need no more words.
        largest = self._shards[int(np.argmax(words))].levels
        monitor = ConvergenceMonitor(tolerance=1e-6, max_iterations=200)
        return learned_interpolation(largest, prior=prior, monitor=monitor)

    def _kept(self) -> Interpolation | None:
        if self._folder is None:
            return None
        try:
            notes = json.loads((self._folder / _NOTES).read_text(encoding="utf-8"))
            if notes["generation"] != self._generation:
                return None
            return Interpolation(tuple(notes["shares"][level] for level in LEVELS))
        except (OSError, ValueError, KeyError, TypeError):
            return None  # learned again

    def _keep(self, learned: Interpolation) -> None:
        if self._folder is None:
            return
        shares = dict(zip(LEVELS, learned.weights, strict=True))
        notes = {"generation": self._generation, "shares": shares}
        try:
            write_text(self._folder / _NOTES, json.dumps(notes, indent=1) + "\n")
        except OSError:
            return  # an index that can only be read is learned from each time
