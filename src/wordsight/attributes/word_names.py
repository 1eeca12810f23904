"""What words are called: by their spelling, or by a number that stays as more is taught."""

from collections.abc import Sequence
from itertools import count

import numpy as np
from numpy.typing import NDArray

__all__ = ["kept_names", "new_name", "numbered_names"]

Labels = NDArray[np.intp]


def numbered_names(known: Sequence[str | None]) -> tuple[str, ...]:
    """Return the spelling of each word, or a name such as ``word-3`` that no other word has."""
    taken = {name for name in known if name is not None}
    names: list[str] = []
    for number, name in enumerate(known, start=1):
        one = name or f"word-{number}"
        # A word that was corrected by hand is spelled as it was called then.
        names.append(one if name or one not in taken else new_name(taken | set(names), len(known)))
    return tuple(names)


def new_name(taken: set[str], start: int = 0) -> str:
    """Return ``word-N`` that is not taken, N above ``start``."""
    return next(name for n in count(start + 1) if (name := f"word-{n}") not in taken)


def kept_names(
    before: Labels, called: Sequence[str], now: Labels, known: Sequence[str | None]
) -> tuple[str, ...]:
    """Return names of words that were learned again: those only recorded keep what they have.

    A word keeps the name of the earlier one that it shares most lessons with, if no other word
    shares more with that one. The others get numbers that no word had.

    Args:
        before: ``(N,)`` the earlier word of each lesson.
        called: What the earlier words are called.
        now: ``(M,)`` the word of each lesson, of which the first N are those of before.
        known: The spelling of each word, or ``None`` if it was only recorded.
    """
    shared = np.zeros((len(known), len(called)), dtype=np.intp)
    np.add.at(shared, (now[: len(before)], before), 1)
    names, taken = list(known), set(called) | {name for name in known if name is not None}
    free = {number for number, name in enumerate(called) if name not in known}
    for place in np.argsort(-shared, axis=None, kind="stable"):
        word, earlier = divmod(int(place), len(called))
        if shared[word, earlier] and names[word] is None and earlier in free:
            names[word] = called[earlier]
            free.remove(earlier)
    for word, name in enumerate(names):
        if name is None:
            names[word] = new_name(taken, len(called))
            taken.add(str(names[word]))
    return tuple(map(str, names))
