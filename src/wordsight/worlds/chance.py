"""Where the chance in a film comes from: its own generator, so that films do not disturb another.

Film number 7 is the same whether ten films are made or a thousand, and what a film looks like can
change without changing what happens in it.
"""

import hashlib
import operator

import numpy as np

from wordsight.worlds.errors import WorldError

__all__ = ["generator"]


def generator(
    random_state: int, world: str, index: int, purpose: str = "script"
) -> np.random.Generator:
    """Return the random generator of one film for one purpose.

    Args:
        random_state: The seed of the whole world, 0 or more.
        world: The world's name.
        index: Which film, counting from 0.
        purpose: What the chance is for; ``script`` and ``picture`` do not disturb each other.
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
