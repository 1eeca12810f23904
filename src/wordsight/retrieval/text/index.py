"""`TextIndex`: the language models of an index on disk, with shares learned from its own words."""

import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.files import write_text
from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.index.segments import LiveSegment, PartData
from wordsight.retrieval.text.analysis import Analyser, TextQuery
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.model import LanguageModel, Shard
from wordsight.retrieval.text.postings import Postings, Terms
from wordsight.retrieval.text.smoothing import Interpolation, learned_interpolation

if TYPE_CHECKING:
    from wordsight.retrieval.index.reader import Index

__all__ = ["DEFAULT_SHARES", "LEVELS", "TEXT", "TextIndex", "TextPart", "text_shards"]

Ints = NDArray[np.int64]


# `TextPart`: the words of a segment's shots, scenes and videos; counted once, merged by copying.
#
# Arrays lie on disk as :class:`Postings` and :class:`Levels` have them, so that opening an index
# reads nothing.


TEXT = "text"
LEVELS = ("shot", "scene", "video")
"""The levels of an index, from the documents upwards."""

_COLUMNS = ("starts", "texts", "counts", "lengths")


class TextPart:
    """Makes the text part of segments.

    Args:
        analyser: What cuts texts into terms.
    """

    name = TEXT
    piecewise = False

    def __init__(self, analyser: Analyser) -> None:
        self.analyser = analyser

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Count the words of every document, its scene and its video."""
        documents = [source.document for source in sources]
        videos = _numbered(document.video_id for document in documents)
        scenes = _numbered((document.video_id, document.scene) for document in documents)
        shots = np.arange(len(documents))
        texts = [self._terms(source.text) for source in sources]
        # What is said of a whole video is one more piece of text, of no shot and no scene.
        first = np.unique(videos, return_index=True)[1]
        texts += [self._terms(sources[at].video_text) for at in first.tolist()]
        none = np.full(len(first), -1)
        levels = Levels.build(
            Postings.build(texts),
            [
                np.concatenate([shots, none]),
                np.concatenate([scenes, none]),
                np.concatenate([videos, np.arange(len(first))]),
            ],
            [shots, scenes, videos],
        )
        return _data(levels)

    def merge(self, stretches: Sequence[LiveSegment]) -> PartData:
        """Copy the counts of the documents that are still wanted."""
        parts = [_levels(stretch) for stretch in stretches]
        postings, owners = [], []
        for level in range(len(LEVELS)):
            renumbered, owner, size = [], [], 0
            for part, stretch in zip(parts, stretches, strict=True):
                wanted = part.owners[level][stretch.rows]
                new, size = _renumbered(wanted, part.postings[level].num_texts, size)
                renumbered.append((part.postings[level], new))
                owner.append(new[wanted])
            postings.append(Postings.concatenated(renumbered))
            owners.append(np.concatenate(owner) if owner else np.zeros(0, np.int64))
        return _data(Levels(tuple(postings), tuple(owners)))

    def _terms(self, texts: Iterable[str]) -> list[str]:
        return [term for text in texts for term in self.analyser.terms(text)]


def text_shards(stretches: Sequence[LiveSegment]) -> list[Shard]:
    """Return the text of segments as shards of a language model, nothing read yet."""
    shards = []
    for stretch in stretches:
        levels = _levels(stretch)
        whole = len(stretch.rows) == levels.num_documents
        shards.append(Shard(levels, None if whole else stretch.rows))
    return shards


def _levels(stretch: LiveSegment) -> Levels:
    arrays = stretch.segment.arrays(TEXT)
    terms = Terms(arrays["term_bytes"], arrays["term_offsets"])
    postings = (
        Postings(terms, *(arrays[f"{level}_{column}"] for column in _COLUMNS)) for level in LEVELS
    )
    return Levels(tuple(postings), tuple(arrays[f"{level}_of"] for level in LEVELS))


def _data(levels: Levels) -> PartData:
    terms = levels.terms
    arrays: dict[str, NDArray[np.generic]] = {
        "term_bytes": terms.data,
        "term_offsets": terms.offsets,
    }
    for name, postings, owner in zip(LEVELS, levels.postings, levels.owners, strict=True):
        arrays |= {f"{name}_{column}": getattr(postings, column) for column in _COLUMNS}
        arrays[f"{name}_of"] = owner
    return PartData(arrays, {})


def _numbered(names: Iterable[object]) -> Ints:
    """Number things from 0 in the order they first come."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _renumbered(wanted: Ints, size: int, start: int) -> tuple[Ints, int]:
    """Give new numbers from ``start`` to the members that are wanted, -1 to the others."""
    new = np.full(size, -1, np.int64)
    kept = np.unique(wanted)
    new[kept] = start + np.arange(len(kept))
    return new, start + len(kept)


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
        stretches: Sequence[LiveSegment],
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
