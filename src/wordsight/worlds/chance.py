"""Random generators of films, one for each purpose, and draws from them."""

import hashlib
import operator
from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from wordsight.worlds.checks import WorldError

__all__ = ["Rng", "film_rng", "pick"]

Option = TypeVar("Option")

Rng = np.random.Generator


def film_rng(random_state: int, world: str, index: int, purpose: str = "script") -> Rng:
    """Return the random generator of one film for one purpose.

    Film 7 is the same whether ten films are made or a thousand, and what a film looks like can
    change without changing what happens in it.

    Args:
        random_state: The seed of the whole world, 0 or more.
        world: The world's name.
        index: Number of the film, counting from 0.
        purpose: What is drawn: ``script``, ``camera``, ``picture``, ...
    """
    try:
        seed = operator.index(random_state)
    except TypeError:
        seed = -1
    if seed < 0:
        raise WorldError(f"random_state must be a whole number of 0 or more, got {random_state!r}.")
    digest = hashlib.sha256(f"{world}/{purpose}".encode()).digest()
    # Read in a fixed byte order, so that machines agree.
    words = np.frombuffer(digest[:8], dtype="<u4").astype(int)
    return np.random.default_rng([seed, index, *words.tolist()])


def pick(options: Sequence[Option], rng: Rng) -> Option:
    """Draw one of several options, each with the same probability."""
    return options[int(rng.integers(len(options)))]
