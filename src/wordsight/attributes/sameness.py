"""Which words are one: clusters of the same word, and different names of the same things."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.attributes.exclusivity import EVIDENCE, Meetings
from wordsight.attributes.word_types import WordTypes

__all__ = ["link_synonyms", "merge_same_words"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_SURELY = 3.0  # nats by which one word must be likelier than two where sounds say nothing
_MIXING = 2.0  # shape of the prior of how often words of two attributes meet; its mean is 1
_SOUND_ALIKE = 1.0  # times the radii of two clusters: further apart they are different words


def merge_same_words(meetings: Meetings, points: Array, labels: Labels) -> Labels:
    """Put clusters together that are one word: they sound alike and are said of the same things.

    Two clusters of one word meet each other as often as each meets itself; clusters of two words
    about as chance has it, or hardly ever. The nearest two for which the first is likelier are
    merged, again and again.

    Args:
        meetings: Of the clusters.
        points: ``(N, d)`` recordings.
        labels: ``(N,)`` the cluster of each, from 0 on without gaps.

    Returns:
        ``(N,)`` new clusters, from 0 on without gaps.
    """
    labels = labels.copy()
    while (count := int(labels.max()) + 1) > 2:
        types = WordTypes.of(points, labels)
        apart = np.linalg.norm(types.centres[:, None] - types.centres[None], axis=-1)
        near = apart < _SOUND_ALIKE * (types.radii[:, None] + types.radii[None])
        np.fill_diagonal(apart, np.inf)
        nearest = apart <= np.minimum(apart.min(axis=0)[None], apart.min(axis=1)[:, None]) + 1e-12
        possible = near & nearest & (_sameness(meetings) > 0)
        if not possible.any():
            break
        first, second = np.unravel_index(np.where(possible, apart, np.inf).argmin(), apart.shape)
        joined = _joining(count, int(first), int(second))
        labels, meetings = joined[labels], meetings.merged(joined)
    return labels


def link_synonyms(meetings: Meetings) -> Labels:
    """Return new numbers under which words that are said of the same things are one.

    However different they sound: the same word in two voices, or two words for one thing. Such
    words belong to one attribute although they meet.
    """
    labels = np.arange(len(meetings.observed))
    while (count := int(labels.max()) + 1) > 2:
        sameness = _sameness(meetings)
        first, second = np.unravel_index(sameness.argmax(), sameness.shape)
        if sameness[first, second] <= _SURELY:
            break
        joined = _joining(count, int(first), int(second))
        labels, meetings = joined[labels], meetings.merged(joined)
    return labels


def _sameness(meetings: Meetings) -> Array:
    """Return how much likelier (in nats) two words are one than two; -inf on the diagonal.

    Two names of the same things meet each other as often as each meets itself: one rate explains
    all three counts. A word that is often said of what another names ("three", where threes are
    mostly blue) meets it more than chance has it too, but itself far more. Rates are integrated
    out, so that small counts decide nothing.
    """
    o, e = meetings.observed * EVIDENCE, meetings.expected * EVIDENCE
    usual = max(float(np.trace(o)), 1.0) / max(float(np.trace(e)), 1e-12)
    own_o, own_e = np.diag(o), np.diag(e)
    one = _evidence(own_o[:, None] + own_o + o, own_e[:, None] + own_e + e, 1.0, usual)
    alone = _evidence(own_o, own_e, 1.0, usual)
    found = one - alone[:, None] - alone - _evidence(o, e, _MIXING, 1.0)
    # Words of one attribute have much the same company: what company says counts only against.
    found += np.minimum(_same_company(o, e), 0.0)
    np.fill_diagonal(found, -np.inf)
    return np.asarray(found)


def _same_company(o: Array, e: Array) -> Array:
    """Return how much likelier (in nats) two words meet all others at the same rates than not."""
    single = _evidence(o, e, 1.0, 1.0)
    both = _evidence(o[:, None] + o[None], e[:, None] + e[None], 1.0, 1.0)
    gain = both - single[:, None] - single[None]  # (W, W, W): two words and who they meet
    others = 1.0 - np.eye(len(o))
    return np.asarray((gain * others[:, None] * others[None]).sum(axis=-1))


def _evidence(observed: Array, expected: Array, shape: float, mean: float) -> Array:
    """Return the log probability of Poisson counts whose rate has a Gamma prior.

    What depends on the counts only is left out: it is the same however they are explained.
    """
    scale = shape / mean
    constant = shape * np.log(scale) - gammaln(shape)
    return np.asarray(
        constant + gammaln(shape + observed) - (shape + observed) * np.log(scale + expected)
    )


def _joining(count: int, first: int, second: int) -> Labels:
    numbers = np.arange(count)
    numbers[max(first, second)] = min(first, second)
    return np.unique(numbers, return_inverse=True)[1].astype(np.intp)
