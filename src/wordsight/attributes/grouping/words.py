"""Recorded words: clusters of speech, their number, clusters of one word, synonyms and phrases.

A recording of a known word is recognised by its cluster, and one of two such words said in one
breath ("red cup") is split into them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from wordsight.attributes.discriminant import held_out_log_posterior
from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import speech_features, split_words, trim_silence
from wordsight.attributes.grouping.exclusivity import COUNT_WEIGHT, Cooccurrences
from wordsight.attributes.lessons import Lessons, Utterance
from wordsight.errors import TeachingError

if TYPE_CHECKING:
    from wordsight.attributes.learner import AttributeLearner

__all__ = [
    "WordTypes",
    "find_word_types",
    "known_words",
    "link_synonyms",
    "medoids",
    "merge_same_words",
    "refine_words",
    "silhouette",
    "split_phrases",
]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

_MAX_CLUSTERED = 3000  # recordings; beyond that the rest joins the nearest cluster
_MAX_COMPARED = 1000  # recordings whose silhouettes choose the number of clusters
_NEARLY_BEST = 0.9  # of the best silhouette: the largest such number is taken
_LEAST_EVIDENCE = 3.0  # nats by which one word must be likelier than two, without their sounds
_MIXING = 2.0  # shape of the prior of co-occurrence across attributes; its mean is 1
_SIMILAR_SOUND = 1.0  # times the radii of two clusters: more distant ones are different words
_OTHER_ATTRIBUTE = 0.5  # probability that a word names another attribute than the picture suggests

_WIDTH = 1.6  # times the radius of a known word: more distant recordings are different words
_CLEARLY = 0.9  # times the strangeness of a phrase: what that of its stranger word must be below
_SHORTEST = 0.5  # times how long a word usually lasts: shorter parts of a recording are others
_MOST_TIMED = 20  # recordings of a word of which it is measured how long they last
_CUTS = np.linspace(0.2, 0.8, 25)  # of a phrase: where its second word may begin


@dataclass(frozen=True, eq=False)
class WordTypes:
    """Recordings clustered into words.

    Attributes:
        labels: ``(N,)`` the word of each recording, from 0 without gaps.
        centres: ``(W, d)`` mean of each word's recordings.
        radii: ``(W,)`` distance from the centre within which 95 % of them lie.
    """

    labels: Labels
    centres: Array
    radii: Array

    @property
    def count(self) -> int:
        """The number of words."""
        return len(self.centres)

    @classmethod
    def of(cls, points: Array, labels: Labels) -> "WordTypes":
        """Return the clusters that labels (any numbers) describe."""
        _, dense = np.unique(labels, return_inverse=True)
        count = int(dense.max(initial=-1)) + 1
        centres = np.stack([points[dense == word].mean(axis=0) for word in range(count)])
        distances = np.linalg.norm(points - centres[dense], axis=1)
        radii = np.array([np.quantile(distances[dense == word], 0.95) for word in range(count)])
        return cls(dense.astype(np.intp), centres, radii)


def find_word_types(points: Array, num_types: int | None = None, *, most: int = 80) -> WordTypes:
    """Cluster recordings into words by Ward's method.

    The number of words maximises the mean silhouette. If several numbers are nearly as good the
    largest is taken: a word in two clusters is recognised later by its pictures, but two words in
    one cluster would stay mixed.

    Args:
        points: ``(N, d)`` recordings.
        num_types: The number of words, if known.
        most: The largest number considered.

    Raises:
        TeachingError: If there are fewer recordings than words.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import cdist

    if num_types is not None and not 1 <= num_types <= len(points):
        raise TeachingError(f"{len(points)} recordings cannot contain {num_types} words.")
    if len(points) < 3 or np.ptp(points, axis=0).max(initial=0) < 1e-9:
        count = num_types or 1
        return WordTypes.of(points, np.minimum(np.arange(len(points)), count - 1))
    step = -(-len(points) // _MAX_CLUSTERED)
    tree = linkage(points[::step], "ward")
    if num_types is None:
        num_types = _best_number(points[::step], tree, min(most, len(points[::step]) - 1))
    labels = fcluster(tree, num_types, "maxclust") - 1
    if step > 1:
        centres = WordTypes.of(points[::step], labels).centres
        labels = cdist(points, centres).argmin(axis=1)
    return WordTypes.of(points, labels)


def _best_number(points: Array, tree: Array, most: int) -> int:
    from scipy.cluster.hierarchy import fcluster
    from scipy.spatial.distance import cdist

    step = -(-len(points) // _MAX_COMPARED)
    distances = cdist(points[::step], points[::step])
    scores = {}
    for number in range(2, most + 1):
        labels = (fcluster(tree, number, "maxclust") - 1)[::step]
        _, dense = np.unique(labels, return_inverse=True)
        if dense.max() > 0:
            scores[number] = silhouette(distances, dense)
    best = max(scores.values())
    return max(number for number, score in scores.items() if score >= _NEARLY_BEST * best)


def silhouette(distances: Array, labels: Labels) -> float:
    """Return the mean silhouette, from -1 to 1.

    Args:
        distances: ``(N, N)`` between all points.
        labels: ``(N,)`` clusters from 0 without gaps, two or more.
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


def medoids(points: Array, labels: Labels, preferred: NDArray[np.bool_]) -> Labels:
    """Return per cluster the point with the smallest sum of distances to the others.

    Args:
        points: ``(N, d)`` points.
        labels: ``(N,)`` the cluster of each, from 0 without gaps.
        preferred: ``(N,)`` those to choose from, in clusters that have some.
    """
    from scipy.spatial.distance import cdist

    found = []
    for word in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == word)
        sample = members[:: -(-len(members) // 500)]
        own = members[preferred[members]] if preferred[members].any() else members
        found.append(own[cdist(points[own], points[sample]).sum(axis=1).argmin()])
    return np.array(found, dtype=np.intp)


def merge_same_words(cooccurrences: Cooccurrences, points: Array, labels: Labels) -> Labels:
    """Merge clusters of one word: they sound alike and are said of the same pictures.

    Two clusters of one word co-occur as often as each does with itself; clusters of two words about
    as often as chance predicts, or hardly ever. The nearest two for which the first is likelier are
    merged repeatedly.

    Args:
        cooccurrences: Of the clusters.
        points: ``(N, d)`` recordings.
        labels: ``(N,)`` the cluster of each, from 0 without gaps.

    Returns:
        ``(N,)`` new clusters, from 0 without gaps.
    """
    labels = labels.copy()
    while (count := int(labels.max()) + 1) > 2:
        types = WordTypes.of(points, labels)
        distances = np.linalg.norm(types.centres[:, None] - types.centres[None], axis=-1)
        near = distances < _SIMILAR_SOUND * (types.radii[:, None] + types.radii[None])
        np.fill_diagonal(distances, np.inf)
        smallest = np.minimum(distances.min(axis=0)[None], distances.min(axis=1)[:, None])
        possible = near & (distances <= smallest + 1e-12) & (_sameness(cooccurrences) > 0)
        if not possible.any():
            break
        nearest = np.where(possible, distances, np.inf).argmin()
        first, second = np.unravel_index(nearest, distances.shape)
        joined = _joining(count, int(first), int(second))
        labels, cooccurrences = joined[labels], cooccurrences.merged(joined)
    return labels


def link_synonyms(cooccurrences: Cooccurrences) -> Labels:
    """Return new numbers under which words for the same objects are one, however they sound.

    Such words (one word in two voices, or two words for one object) belong to one attribute
    although they co-occur.
    """
    labels = np.arange(len(cooccurrences.observed))
    while (count := int(labels.max()) + 1) > 2:
        sameness = _sameness(cooccurrences)
        first, second = np.unravel_index(sameness.argmax(), sameness.shape)
        if sameness[first, second] <= _LEAST_EVIDENCE:
            break
        joined = _joining(count, int(first), int(second))
        labels, cooccurrences = joined[labels], cooccurrences.merged(joined)
    return labels


def _sameness(cooccurrences: Cooccurrences) -> Array:
    """Return the log odds, in nats, that two words are one; -inf on the diagonal.

    Two names of the same objects co-occur as often as each does with itself: one rate explains all
    three counts. A word that is correlated with another ("three", if threes are mostly blue) also
    co-occurs more than by chance, but with itself far more. Rates are integrated out, so that small
    counts decide nothing.
    """
    o, e = cooccurrences.observed * COUNT_WEIGHT, cooccurrences.expected * COUNT_WEIGHT
    usual = max(float(np.trace(o)), 1.0) / max(float(np.trace(e)), 1e-12)
    own_o, own_e = np.diag(o), np.diag(e)
    one = _log_marginal(own_o[:, None] + own_o + o, own_e[:, None] + own_e + e, 1.0, usual)
    alone = _log_marginal(own_o, own_e, 1.0, usual)
    odds = one - alone[:, None] - alone - _log_marginal(o, e, _MIXING, 1.0)
    # Words of one attribute co-occur with much the same words: this can only be counter-evidence.
    odds += np.minimum(_same_neighbours(o, e), 0.0)
    np.fill_diagonal(odds, -np.inf)
    return np.asarray(odds)


def _same_neighbours(o: Array, e: Array) -> Array:
    """Return the log odds, in nats, that two words co-occur with all others at the same rates."""
    single = _log_marginal(o, e, 1.0, 1.0)
    both = _log_marginal(o[:, None] + o[None], e[:, None] + e[None], 1.0, 1.0)
    gain = both - single[:, None] - single[None]  # (W, W, W): two words and a third
    others = 1.0 - np.eye(len(o))
    return np.asarray((gain * others[:, None] * others[None]).sum(axis=-1))


def _log_marginal(observed: Array, expected: Array, shape: float, mean: float) -> Array:
    """Return the log probability of Poisson counts whose rate has a Gamma prior.

    Factors of the counts alone are omitted: they are the same for all hypotheses.
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


def refine_words(
    speech: Array, pictures: Array, labels: Labels, *, rounds: int = 5, random_state: int = 0
) -> Labels:
    """Reassign every recording by cross-validated discriminants.

    Sound and picture are independent given the word, so that their log probabilities add up. A
    cluster of unrelated recordings loses its members, since a model of some does not fit the
    others.

    Args:
        speech: ``(N, S)`` recordings.
        pictures: ``(N, D)`` their pictures.
        labels: ``(N,)`` the words so far, from 0 without gaps.
        rounds: Maximum number of rounds.
        random_state: Seed of the folds.

    Returns:
        ``(N,)`` words from 0 without gaps; perhaps fewer.
    """
    for number in range(rounds):
        count = int(labels.max()) + 1
        if count < 2:
            break
        share = (np.bincount(labels, minlength=count) + 0.5) / (len(labels) + count / 2)
        by_sound = held_out_log_posterior(speech, labels, random_state + number)
        by_picture = held_out_log_posterior(pictures, labels, random_state + number)
        if by_sound is None or by_picture is None:
            break
        # The word may name another attribute of the picture.
        own = (1 - _OTHER_ATTRIBUTE) * np.exp(by_picture)
        by_picture = np.log(own + _OTHER_ATTRIBUTE * share)
        new = (by_sound + by_picture - np.log(share)).argmax(axis=1)
        new = np.unique(new, return_inverse=True)[1]
        if np.array_equal(new, labels):
            break
        labels = new
    return labels.astype(np.intp)


def known_words(learner: "AttributeLearner", lessons: Lessons) -> Labels:
    """Return ``(N,)`` the word of each lesson, by spelling or else by sound; -1 where it is new.

    Args:
        learner: A fitted learner.
        lessons: Lessons that it did not learn from.
    """
    number = {name: place for place, name in enumerate(learner.vocabulary_.names)}
    found = np.array([-1 if text is None else number.get(text, -1) for text in lessons.texts])
    heard = np.array([text is None for text in lessons.texts]) & lessons.spoken
    nearest = _nearest_word(learner) if heard.any() else None
    if nearest is not None:
        words, strangeness = nearest(lessons.speech[heard])
        found[heard] = np.where(strangeness <= _WIDTH, words, -1)
    return found.astype(np.intp)


def _nearest_word(
    learner: "AttributeLearner",
) -> Callable[[Array], tuple[Labels, Array]] | None:
    """Return what finds the nearest word of recordings, and its distance in radii of the word."""
    heard = np.isfinite(learner.speech_).all(axis=1)
    if not heard.any() or not learner.speech_.shape[1]:
        return None
    words = learner.vocabulary_.words[heard]
    types, numbers = WordTypes.of(learner.speech_[heard], words), np.unique(words)

    def nearest(speech: Array) -> tuple[Labels, Array]:
        away = np.linalg.norm(speech[:, None] - types.centres[None], axis=-1)
        away = away / np.maximum(types.radii, 1e-9)
        return numbers[away.argmin(axis=1)], away.min(axis=1)

    return nearest


def split_phrases(learner: "AttributeLearner", utterances: Sequence[Utterance]) -> list[Utterance]:
    """Split recordings of two known words said in one breath ("red cup") into the two.

    A recording is a phrase if its parts before and after some moment are both like known words and
    last as long as these do. If the whole is like a known word, too, both parts must be clearly
    more so, and as near as nearly all recordings of their words are. Everything else stays as it
    is.

    Args:
        learner: A fitted learner.
        utterances: What is said of pictures.
    """
    nearest = _nearest_word(learner) if learner.settings.several else None
    if nearest is None:
        return list(utterances)
    describe = speech_features(learner.settings.speech).describe

    def parts(one: Sound) -> list[Sound]:
        if one.silent:
            return [one]
        said, strange = trim_silence(one), float(nearest(describe([one]))[1][0])
        most = _WIDTH if strange > _WIDTH else min(1.0, _CLEARLY * strange)
        places = (_CUTS * len(said.samples)).astype(int)
        halves = [
            Sound(samples, said.rate)
            for place in places
            for samples in (said.samples[:place], said.samples[place:])
        ]
        words, strangeness = (found.reshape(-1, 2) for found in nearest(describe(halves)))
        worst = strangeness.max(axis=1)
        best = int(worst.argmin())
        two = halves[2 * best : 2 * best + 2]
        if worst[best] > most:
            return [one]
        short = (_SHORTEST * _usual_duration(learner, int(word)) for word in words[best])
        whole = all(half.duration >= least for half, least in zip(two, short, strict=True))
        return two if whole else [one]

    def split(utterance: Utterance) -> Utterance:
        given: list[Any] = []
        for one in utterance if isinstance(utterance, list | tuple) else [utterance]:
            if isinstance(one, Sound):
                given += [part for word in split_words(one) for part in parts(word)]
            else:
                given.append(one)
        return given if isinstance(utterance, list | tuple | Sound) else utterance

    return [split(one) for one in utterances]


def _usual_duration(learner: "AttributeLearner", word: int) -> float:
    """Return how many seconds a word lasts, by some of its recordings; 0 if there are none."""
    own = (learner.sounds_[lesson] for lesson in np.flatnonzero(learner.vocabulary_.words == word))
    heard = islice((sound for sound in own if sound is not None), _MOST_TIMED)
    durations = [trim_silence(sound).duration for sound in heard]
    return float(np.median(durations)) if durations else 0.0
