"""The words of an index: `TextPart` stores the counts of segments, `TextIndex` opens them.

Arrays lie on disk in the layout of :class:`Postings` and :class:`Levels`, so that opening an index
reads nothing.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import ConvergenceMonitor
from wordsight.retrieval.documents import DocumentSource
from wordsight.retrieval.index.segments import LiveSegment, PartData, keep_learned
from wordsight.retrieval.text.analysis import Analyser, TextQuery, neighbours_of
from wordsight.retrieval.text.model import LanguageModel
from wordsight.retrieval.text.postings import Levels, Postings, Terms
from wordsight.retrieval.text.shard import Shard
from wordsight.retrieval.text.smoothing import TwoStage, fit_two_stage

if TYPE_CHECKING:
    from wordsight.retrieval.index.reader import Index

__all__ = [
    "DEFAULT_SMOOTHING",
    "LEVELS",
    "PRIOR_WORDS",
    "TEXT",
    "TextIndex",
    "TextPart",
    "text_shards",
]

Ints = NDArray[np.int64]

TEXT = "text"
LEVELS = ("shot", "scene", "video")
"""The levels of an index, from the documents upwards."""

DEFAULT_SMOOTHING = TwoStage(100.0, 0.7, (0.3, 0.2))
"""Before anything is learned; the weights are those of the levels above."""

PRIOR_WORDS = 200.0
"""Pseudo-count of the default: a handful of captions should not overturn it."""

_SHARES_FILE = "text-shares.json"
_COLUMNS = ("starts", "texts", "counts", "lengths")


class TextPart:
    """The text part of segments.

    Args:
        analyser: Converts texts into terms.
    """

    name = TEXT
    batched = False

    def __init__(self, analyser: Analyser) -> None:
        self.analyser = analyser

    def build(self, sources: Sequence[DocumentSource]) -> PartData:
        """Count the words of every document, scene and video."""
        documents = [source.document for source in sources]
        videos = _numbered(document.video_id for document in documents)
        scenes = _numbered((document.video_id, document.scene) for document in documents)
        shots = np.arange(len(documents))
        said = [[self.analyser.terms(text) for text in source.text] for source in sources]
        texts = [[term for terms in each for term in terms] for each in said]
        pairs = [[pair for terms in each for pair in neighbours_of(terms)] for each in said]
        # A text about a whole video is one more piece of text, of no shot and no scene.
        first = np.unique(videos, return_index=True)[1]
        whole = [sources[at].video_text for at in first.tolist()]
        texts += [[term for text in each for term in self.analyser.terms(text)] for each in whole]
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
        return _part_data(levels, Postings.build(pairs))

    def merge(self, segments: Sequence[LiveSegment]) -> PartData:
        """Copy the counts of the documents that are left."""
        parts = [_read_levels(live) for live in segments]
        postings, owners = [], []
        for level in range(len(LEVELS)):
            renumbered, owner, size = [], [], 0
            for part, live in zip(parts, segments, strict=True):
                used = part.owners[level][live.rows]
                new, size = _renumbered(used, part.postings[level].num_texts, size)
                renumbered.append((part.postings[level], new))
                owner.append(new[used])
            postings.append(Postings.concatenated(renumbered))
            owners.append(np.concatenate(owner) if owner else np.zeros(0, np.int64))
        size, kept = 0, []
        for part, live in zip(parts, segments, strict=True):
            new, size = _renumbered(np.asarray(live.rows), part.num_documents, size)
            kept.append((_read_pairs(live, part.num_documents), new))
        return _part_data(Levels(tuple(postings), tuple(owners)), Postings.concatenated(kept))


class TextIndex:
    """The language models of an index, with weights of the levels learned from its words.

    Args:
        segments: Segments with a text part.
        analyser: The analyser of the index.
        folder: Where learned weights are stored; None to learn them each time.
        generation: The generation of the index.
    """

    def __init__(
        self,
        segments: Sequence[LiveSegment],
        analyser: Analyser,
        folder: Path | None = None,
        generation: int = 0,
    ) -> None:
        self.analyser = analyser
        self._segments = tuple(segments)
        self._folder, self._generation = folder, generation

    @classmethod
    def open(cls, index: "Index") -> Self:
        """Open the text part of an index.

        Raises:
            RetrievalError: If it has none.
        """
        analyser = Analyser.from_json(index.settings(TEXT))
        return cls(index.segments, analyser, index.folder, index.generation)

    @cached_property
    def model(self) -> LanguageModel:
        """The language models, smoothed with scene, video and collection."""
        return LanguageModel(self.shards, self.smoothing, "documents")

    @cached_property
    def smoothing(self) -> TwoStage:
        """The smoothing, learned from the words of the index."""
        return keep_learned(
            None if self._folder is None else self._folder / _SHARES_FILE,
            self._generation,
            "two_stage",
            lambda: asdict(self._learn_smoothing()),
            lambda kept: TwoStage(kept["mass"], kept["share"], tuple(kept["weights"])),
        )

    def query(self, text: str) -> TextQuery:
        """Create a query from a text."""
        return TextQuery.from_text(text, self.analyser)

    @cached_property
    def shards(self) -> list[Shard]:
        """The text of the segments, with what was prepared of them for queries."""
        return text_shards(self._segments)

    def _learn_smoothing(self) -> TwoStage:
        words = [shard.levels.postings[0].num_words for shard in self.shards]
        if not sum(words):
            return DEFAULT_SMOOTHING
        # The largest segment represents all: a few numbers need no more words.
        largest = self.shards[int(np.argmax(words))]
        shares = LanguageModel([largest], background="documents").shares()
        monitor = ConvergenceMonitor(tolerance=1e-6, max_iterations=200)
        return fit_two_stage(
            largest.levels, shares, prior=DEFAULT_SMOOTHING, words=PRIOR_WORDS, monitor=monitor
        )


def text_shards(segments: Sequence[LiveSegment]) -> list[Shard]:
    """Return the text of segments as shards of a language model, read lazily."""
    shards = []
    for live in segments:
        levels = _read_levels(live)
        complete = len(live.rows) == levels.num_documents
        pairs = _read_pairs(live, levels.num_documents)
        shards.append(Shard(levels, None if complete else live.rows, pairs))
    return shards


def _read_levels(live: LiveSegment) -> Levels:
    arrays = live.segment.arrays(TEXT)
    terms = Terms(arrays["term_bytes"], arrays["term_offsets"])
    postings = (
        Postings(terms, *(arrays[f"{level}_{column}"] for column in _COLUMNS)) for level in LEVELS
    )
    return Levels(tuple(postings), tuple(arrays[f"{level}_of"] for level in LEVELS))


def _read_pairs(live: LiveSegment, num_documents: int) -> Postings:
    """Return the neighbouring words of documents; none in an index of an older version."""
    arrays = live.segment.arrays(TEXT)
    if "pair_bytes" not in arrays:
        return Postings.build([[]] * num_documents)
    terms = Terms(arrays["pair_bytes"], arrays["pair_offsets"])
    return Postings(terms, *(arrays[f"pair_{column}"] for column in _COLUMNS))


def _part_data(levels: Levels, pairs: Postings) -> PartData:
    terms = levels.terms
    arrays: dict[str, NDArray[Any]] = {"term_bytes": terms.data, "term_offsets": terms.offsets}
    arrays |= {"pair_bytes": pairs.terms.data, "pair_offsets": pairs.terms.offsets}
    for name, postings in zip((*LEVELS, "pair"), (*levels.postings, pairs), strict=True):
        arrays |= {f"{name}_{column}": getattr(postings, column) for column in _COLUMNS}
    arrays |= {f"{name}_of": owner for name, owner in zip(LEVELS, levels.owners, strict=True)}
    return PartData(arrays)


def _numbered(names: Iterable[object]) -> Ints:
    """Number objects from 0 in the order of their first occurrence."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], np.int64)


def _renumbered(used: Ints, size: int, start: int) -> tuple[Ints, int]:
    """Give new numbers from ``start`` to the units that are used, -1 to the others."""
    new = np.full(size, -1, np.int64)
    kept = np.unique(used)
    new[kept] = start + np.arange(len(kept))
    return new, start + len(kept)
