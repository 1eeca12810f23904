"""Whether touches tell anything about time at all: a test before any model is believed.

A model fitted to a video without labels is always sure of something, even where hands touch things
at random. What is touched must at least depend on when, more than it would if the same touches
came in any other order.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.edges import edges_of
from wordsight.alignment.encoding import Encoded

__all__ = ["touch_evidence"]

Array = NDArray[np.float64]

_SHUFFLES = 200


def touch_evidence(encoded: Encoded, random_state: int = 0) -> float:
    """Return by how many standard deviations touches depend on time more than by chance.

    The video is divided into as many equal parts as the text has steps, and the mutual information
    of parts and things is compared with that of the same touches in random orders.

    Args:
        encoded: The text and the video.
        random_state: Decides the random orders.

    Returns:
        About 0 for touches in no order, several for most procedures; 0 if all touches are alike.
    """
    edges = edges_of(encoded, most=encoded.num_chunks)
    tokens = encoded.things.tokens[edges.first]
    widths = np.diff(edges.moments)
    middles = edges.moments[:-1] + widths / 2
    parts = np.minimum((middles * encoded.num_steps).astype(np.int64), encoded.num_steps - 1)
    place = np.eye(encoded.num_steps)[parts]
    seconds = np.add.reduceat(encoded.times[:, 1] - encoded.times[:, 0], edges.first)
    shown = tokens * np.maximum(seconds, 1e-6)[:, None]
    chance = np.random.default_rng(random_state)
    real = _information(place.T @ shown)
    others = [
        _information(place.T @ shown[chance.permutation(len(shown))]) for _ in range(_SHUFFLES)
    ]
    spread = float(np.std(others))
    return (real - float(np.mean(others))) / spread if spread > 1e-9 else 0.0


def _information(joint: Array) -> float:
    """Return the mutual information of rows and columns of a table of weights, in nats."""
    total = joint.sum()
    if total <= 0:
        return 0.0
    shares = joint / total
    expected = shares.sum(axis=1, keepdims=True) * shares.sum(axis=0)
    seen = shares > 0
    return float((shares[seen] * np.log(shares[seen] / expected[seen])).sum())
