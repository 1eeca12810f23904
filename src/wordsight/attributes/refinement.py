"""Second thoughts about recordings: which word is it, judged by the others and by the picture."""

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.discriminant import held_out_log_posterior

__all__ = ["refine_words"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

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
