"""`Observation`: a clip as the learner sees it, every feature of everything as the number of a bin.

Bins are counted through all features of one kind, so that a word's weights for all of them lie in
one row and one look-up reads them; the first number of each feature stands for "not measured".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.meaning.features.feature import feature
from wordsight.meaning.features.sets import LABEL
from wordsight.meaning.features.view import ClipView
from wordsight.meaning.features.vocabulary import Vocabulary, measured

__all__ = ["Layout", "Observation", "observe"]

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Layout:
    """Where the bins of each feature of one kind lie in a row of weights.

    Attributes:
        names: The features.
        starts: ``(F + 1,)`` where each feature begins: one place for "not measured", then its
            bins; the last number is the length of the row.
    """

    names: tuple[str, ...]
    starts: Ints

    @classmethod
    def of(cls, names: tuple[str, ...], vocabulary: Vocabulary) -> "Layout":
        """Lay out features one after another."""
        sizes = [len(vocabulary.bins[name]) + 1 for name in names]
        return cls(names, np.cumsum([0, *sizes]))

    @property
    def length(self) -> int:
        """Length of a row of weights."""
        return int(self.starts[-1])

    def place(self, name: str) -> slice:
        """Return where the bins of a feature lie, without the place for "not measured"."""
        number = self.names.index(name)
        return slice(int(self.starts[number]) + 1, int(self.starts[number + 1]))


@dataclass(frozen=True)
class Observation:
    """Bins of T frames of J things.

    Attributes:
        view: The clip and the frames that are looked at.
        singles: ``(F, T, J)`` place of each feature of one thing in a row of weights.
        pairs: ``(G, T, J, J)`` place of each feature of two things in a row of weights.
        duration: Seconds the clip lasts.
    """

    view: ClipView
    singles: Ints
    pairs: Ints
    duration: float

    @property
    def num_frames(self) -> int:
        """Number T of frames looked at."""
        return int(self.singles.shape[1])

    @property
    def num_things(self) -> int:
        """Number J of things."""
        return int(self.singles.shape[2])

    @property
    def tracked(self) -> bool:
        """Whether a column is one thing throughout."""
        return self.view.tracked


def observe(view: ClipView, vocabulary: Vocabulary) -> Observation:
    """Turn a view of a clip into bins."""
    count = view.present.shape[1]
    shape = (len(view.frames), count)
    return Observation(
        view,
        _placed(vocabulary.singles, shape, view, vocabulary),
        _placed(vocabulary.pairs, (*shape, count), view, vocabulary),
        view.clip.end - view.clip.start,
    )


def _placed(
    names: tuple[str, ...], shape: tuple[int, ...], view: ClipView, vocabulary: Vocabulary
) -> Ints:
    starts = Layout.of(names, vocabulary).starts
    places = np.zeros((len(names), *shape), dtype=np.int64)
    for row, start, name in zip(places, starts, names, strict=False):
        row[:] = start + 1 + _bins(name, view, vocabulary)
    return places


def _bins(name: str, view: ClipView, vocabulary: Vocabulary) -> Ints:
    if name != LABEL:
        return vocabulary.bins[name](measured(feature(name), view))
    known = {label: index for index, label in enumerate(vocabulary.labels)}
    names = view.clip.detections.label_names
    index = np.array([known.get(name, -1) for name in names] + [-1], dtype=np.int64)
    return np.where(view.present, index[view.labels], -1)
