"""`TextPart`: the words of a segment's shots, scenes and videos; counted once, merged by copying.

Arrays lie on disk as :class:`Postings` and :class:`Levels` have them, so that opening an index
reads nothing.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import Source
from wordsight.retrieval.segments import PartData, Stretch
from wordsight.retrieval.text.analysis import Analyser
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.model import Shard
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.terms import Terms

__all__ = ["LEVELS", "TEXT", "TextPart", "text_shards"]

TEXT = "text"
LEVELS = ("shot", "scene", "video")
"""The levels of an index, from the documents upwards."""

_COLUMNS = ("starts", "texts", "counts", "lengths")

Ints = NDArray[np.int64]


class TextPart:
    """Makes the text part of segments.

    Args:
        analyser: What cuts texts into terms.
    """

    name = TEXT
    piecewise = False

    def __init__(self, analyser: Analyser) -> None:
        self.analyser = analyser

    def build(self, sources: Sequence[Source]) -> PartData:
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

    def merge(self, stretches: Sequence[Stretch]) -> PartData:
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


def text_shards(stretches: Sequence[Stretch]) -> list[Shard]:
    """Return the text of segments as shards of a language model, nothing read yet."""
    shards = []
    for stretch in stretches:
        levels = _levels(stretch)
        whole = len(stretch.rows) == levels.num_documents
        shards.append(Shard(levels, None if whole else stretch.rows))
    return shards


def _levels(stretch: Stretch) -> Levels:
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
