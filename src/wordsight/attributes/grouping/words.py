"""Which recordings are the same word: clusters of speech, and how many there are."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.grouping.exclusivity import COUNT_WEIGHT, Cooccurrences
from wordsight.attributes.recall.discriminant import held_out_log_posterior

__all__ = [
    "WordTypes",
    "find_word_types",
    "link_synonyms",
    "medoids",
    "merge_same_words",
    "refine_words",
    "silhouette",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]


_MOST_CLUSTERED = 3000  # recordings; beyond that the rest joins the nearest cluster
_MOST_COMPARED = 1000  # recordings whose silhouettes choose the number of clusters
_NEARLY_BEST = 0.9  # of the best silhouette: among such numbers the largest is taken


@dataclass(frozen=True, eq=False)
class WordTypes:
    """Recordings sorted into words.

    Attributes:
        labels: ``(N,)`` the word of each recording, from 0 on without gaps.
        centres: ``(W, d)`` mean of each word's recordings.
        radii: ``(W,)`` distance from the centre within which 95 % of them lie.
    """

    labels: Labels
    centres: Array
    radii: Array

    @property
    def count(self) -> int:
        """How many words there are."""
        return len(self.centres)

    @classmethod
    def of(cls, points: Array, labels: Labels) -> "WordTypes":
        """Return the types that labels (any numbers) describe."""
        _, dense = np.unique(labels, return_inverse=True)
        count = int(dense.max(initial=-1)) + 1
        centres = np.stack([points[dense == word].mean(axis=0) for word in range(count)])
        apart = np.linalg.norm(points - centres[dense], axis=1)
        radii = np.array([np.quantile(apart[dense == word], 0.95) for word in range(count)])
        return cls(dense.astype(np.intp), centres, radii)


def find_word_types(points: Array, num_types: int | None = None, *, most: int = 80) -> WordTypes:
    """Cluster recordings into words by Ward's method.

    The number of words is that of the best mean silhouette. Where several numbers are nearly as
    good the largest is taken: a word in two clusters is recognised later by the pictures, which
    are the same; two words in one cluster would stay mixed.

    Args:
        points: ``(N, d)`` recordings.
        num_types: How many words there are, if known.
        most: The largest number considered.

    Raises:
        TeachingError: If more words than recordings are asked for.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import cdist

    if num_types is not None and not 1 <= num_types <= len(points):
        raise TeachingError(f"{len(points)} recordings cannot hold {num_types} words.")
    if len(points) < 3 or np.ptp(points, axis=0).max(initial=0) < 1e-9:
        count = num_types or 1
        return WordTypes.of(points, np.minimum(np.arange(len(points)), count - 1))
    step = -(-len(points) // _MOST_CLUSTERED)
    tree = linkage(points[::step], "ward")
    if num_types is None:
        num_types = _best_number(points[::step], tree, min(most, len(points[::step]) - 1))
    labels = fcluster(tree, num_types, "maxclust") - 1
    if step > 1:
        centres = WordTypes.of(points[::step], labels).centres
        labels = cdist(points, centres).argmin(axis=1)
    return WordTypes.of(points, labels)


def silhouette(distances: Array, labels: Labels) -> float:
    """Return the mean silhouette, from -1 to 1: how much nearer points are to their own cluster.

    Args:
        distances: ``(N, N)`` between all points.
        labels: ``(N,)`` clusters from 0 on without gaps, two or more.
    """
    count = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=count)
    sums = distances @ (labels[:, None] == np.arange(count))
    rows = np.arange(len(labels))
    own = sums[rows, labels] / np.maximum(sizes[labels] - 1, 1)
    others = sums / np.maximum(sizes, 1)
    others[rows, labels] = np.inf
    nearest = others.min(axis=1)
    values = (nearest - own) / np.maximum(np.maximum(nearest, own), 1e-300)
    values[sizes[labels] == 1] = 0.0
    return float(values.mean())


def medoids(points: Array, labels: Labels) -> Labels:
    """Return per cluster the point whose distances to the cluster's others are smallest."""
    from scipy.spatial.distance import cdist

    found = []
    for word in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == word)
        sample = members[:: -(-len(members) // 500)]
        found.append(members[cdist(points[members], points[sample]).sum(axis=1).argmin()])
    return np.array(found, dtype=np.intp)


def _best_number(points: Array, tree: Array, most: int) -> int:
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import cdist

    step = -(-len(points) // _MOST_COMPARED)
    distances = cdist(points[::step], points[::step])
    scores = {}
    for number in range(2, most + 1):
        labels = (fcluster(tree, number, "maxclust") - 1)[::step]
        _, dense = np.unique(labels, return_inverse=True)
        if dense.max() > 0:
            scores[number] = silhouette(distances, dense)
    best = max(scores.values())
    return max(number for number, score in scores.items() if score >= _NEARLY_BEST * best)


# Which words are one: clusters of the same word, and different names of the same things.


_SURELY = 3.0  # nats by which one word must be likelier than two where sounds say nothing
_MIXING = 2.0  # shape of the prior of how often words of two attributes meet; its mean is 1
_SOUND_ALIKE = 1.0  # times the radii of two clusters: further apart they are different words


def merge_same_words(meetings: Cooccurrences, points: Array, labels: Labels) -> Labels:
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


def link_synonyms(meetings: Cooccurrences) -> Labels:
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


def _sameness(meetings: Cooccurrences) -> Array:
    """Return how much likelier (in nats) two words are one than two; -inf on the diagonal.

    Two names of the same things meet each other as often as each meets itself: one rate explains
    all three counts. A word that is often said of what another names ("three", where threes are
    mostly blue) meets it more than chance has it too, but itself far more. Rates are integrated
    out, so that small counts decide nothing.
    """
    o, e = meetings.observed * COUNT_WEIGHT, meetings.expected * COUNT_WEIGHT
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


# Second thoughts about recordings: which word is it, judged by the others and by the picture.


_ELSEWHERE = 0.5  # how often a word names another attribute than what a picture shows best


def refine_words(
    speech: Array, pictures: Array, labels: Labels, *, rounds: int = 5, random_state: int = 0
) -> Labels:
    """Assign every recording anew, by discriminants that were learned without it.

    How it sounds and what it was said of are independent hints given the word, so their log
    probabilities add up. A cluster of strays that have nothing in common loses its members, since
    nothing that was learned from some of them fits the others.

    Args:
        speech: ``(N, S)`` recordings.
        pictures: ``(N, D)`` what they were said of.
        labels: ``(N,)`` the words so far, from 0 on without gaps.
        rounds: At most so many times.
        random_state: Seed of the folds.

    Returns:
        ``(N,)`` words from 0 on without gaps; perhaps fewer.
    """
    for number in range(rounds):
        count = int(labels.max()) + 1
        if count < 2:
            break
        share = (np.bincount(labels, minlength=count) + 0.5) / (len(labels) + count / 2)
        heard = held_out_log_posterior(speech, labels, random_state + number)
        seen = held_out_log_posterior(pictures, labels, random_state + number)
        if heard is None or seen is None:
            break
        # Whatever a picture shows, the word may be about another attribute of it.
        seen = np.log((1 - _ELSEWHERE) * np.exp(seen) + _ELSEWHERE * share)
        new = (heard + seen - np.log(share)).argmax(axis=1)
        new = np.unique(new, return_inverse=True)[1]
        if np.array_equal(new, labels):
            break
        labels = new
    return labels.astype(np.intp)
