"""Features of the user for the discriminative aligners: of words, what is touched, and jumps.

A feature may look at the words of a line, at the whole set of things that are touched and at the
previous line. The models sum over everything that might have been observed, so a feature is asked
for its value on every possible set, jump, chunk and line.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.encoding import AlignmentVocabulary, Encoded
from wordsight.alignment.records import Instructions
from wordsight.errors import AlignmentError

__all__ = ["AlignmentFeature", "FeatureGrid", "SetFeatures", "Sets", "evaluate_features"]

Array = NDArray[np.float64]

Sets = Literal["all", "nonempty", "observed"] | int
"""Which sets of tokens were possible; a number k means all sets of at most k tokens."""


@dataclass(frozen=True)
class FeatureGrid:
    """What a feature is asked for: every set of things, chunk, line and jump.

    The sum over what might have been observed needs the value of a feature for every set that was
    possible, not only for the one that was observed. So a feature never sees the video's own sets.

    Attributes:
        times: ``(T, 2)`` start and end of each chunk in seconds.
        sets: S sets of things and ways of moving that a chunk might show.
        offsets: D jumps, in lines, by which the line of a chunk is reached from the one before.
    """

    times: Array
    sets: tuple[frozenset[str], ...]
    offsets: tuple[int, ...]


AlignmentFeature = Callable[[Instructions, FeatureGrid], Array]
"""A feature of the user: values that broadcast to ``(S, T, N, D)``, see :class:`FeatureGrid`."""

_MOST_SETS = 4096  # listed for features that look at sets


@dataclass(frozen=True, eq=False)
class SetFeatures:
    """Features that depend on what is touched, or on the jump.

    Attributes:
        places: ``(G,)`` their places among the linear weights.
        sets: ``(S, V)`` the sets that were possible.
        values: ``(G, S, T, N, D)`` values for each of them.
        actual: ``(G, T, N, D)`` values for the sets that were observed.
    """

    places: NDArray[np.int64]
    sets: Array
    values: Array
    actual: Array


def evaluate_features(
    encoded: Encoded,
    features: Sequence[AlignmentFeature],
    vocabulary: AlignmentVocabulary,
    offsets: tuple[int, ...],
    family: Sets,
    seen: Array,
    actual: NDArray[np.int64],
) -> tuple[Array, SetFeatures | None]:
    """Ask every feature for its values on every set, chunk, line and jump.

    Args:
        encoded: A text and a video, with their source.
        features: The features.
        vocabulary: Names of the tokens.
        offsets: Kinds of jump.
        family: Which sets were possible.
        seen: ``(S, V)`` distinct sets of the video.
        actual: ``(T,)`` the one of each chunk.

    Returns:
        ``(F, T, N)`` values of features that see neither sets nor jumps, 0 for the others; and the
        others, if there are any.
    """
    text = encoded.source[0] if encoded.source is not None else None
    if text is None:
        raise AlignmentError("features of the user need the text that was encoded.")
    names = (*vocabulary.things, *vocabulary.moves)
    chunks, lines = encoded.num_chunks, encoded.num_lines

    def values(feature: AlignmentFeature, rows: Array) -> Array:
        sets = tuple(frozenset(names[b] for b in np.flatnonzero(row)) for row in rows)
        full = (len(sets), chunks, lines, len(offsets))
        found = np.asarray(feature(text, FeatureGrid(encoded.times, sets, offsets)), float)
        fits = found.ndim == 4 and all(a in (1, b) for a, b in zip(found.shape, full, strict=True))
        if not fits or not np.isfinite(found).all():
            name = getattr(feature, "__name__", "a feature")
            raise AlignmentError(
                f"{name} must return finite numbers that broadcast to (sets, chunks, lines, jumps) "
                f"= {full}, got {found.shape}."
            )
        return found

    # With two more sets a feature of sets shows as one even where all chunks look alike.
    ends = np.stack([np.zeros(seen.shape[1]), np.ones(seen.shape[1])])
    on_seen = [values(feature, np.concatenate([seen, ends])) for feature in features]
    linear = np.zeros((len(features), chunks, lines))
    places = []
    for number, found in enumerate(on_seen):
        if found.shape[0] == found.shape[3] == 1:
            linear[number] = found[0, :, :, 0]
        else:
            places.append(number)
    if not places:
        return linear, None
    possible = _listed_sets(family, seen)
    full = (len(possible), chunks, lines, len(offsets))
    every = np.stack([np.broadcast_to(values(features[p], possible), full) for p in places])
    shown = (len(seen) + len(ends), *full[1:])
    own = np.stack([np.broadcast_to(on_seen[p], shown)[actual, np.arange(chunks)] for p in places])
    # The first linear weight is that of the clock.
    return linear, SetFeatures(np.array(places) + 1, possible, every, own)


def _listed_sets(family: Sets, seen: Array) -> Array:
    """Return ``(S, V)`` the possible sets, one by one.

    Raises:
        AlignmentError: If there are too many.
    """
    if family == "observed":
        return seen
    tokens = seen.shape[1]
    most = min(family, tokens) if isinstance(family, int) else tokens
    sizes = range(1 if family == "nonempty" else 0, most + 1)
    if sum(comb(tokens, size) for size in sizes) > _MOST_SETS:
        raise AlignmentError(
            f"features that look at what is touched, or at the jump, sum over every possible set, "
            f"and {tokens} things and moves have more than {_MOST_SETS}: use sets='observed'."
        )
    groups = [group for size in sizes for group in combinations(range(tokens), size)]
    listed = np.zeros((len(groups), tokens))
    for row, group in zip(listed, groups, strict=True):
        row[list(group)] = 1.0
    return listed
