"""`Order`: in which order somebody carries out the steps of a protocol, with human mistakes."""

from dataclasses import dataclass

import numpy as np

__all__ = ["Order", "choose_order"]


@dataclass(frozen=True)
class Order:
    """The steps as they are done; all numbers count steps from 0.

    Attributes:
        steps: The steps one after the other.
        skipped: Steps that are left out.
        repeated: Steps that are done twice in a row.
        swapped: Pairs of neighbours that change places.
    """

    steps: tuple[int, ...]
    skipped: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()
    swapped: tuple[tuple[int, int], ...] = ()


def choose_order(
    num_steps: int, skip: float, repeat: float, swap: float, rng: np.random.Generator
) -> Order:
    """Make mistakes at given rates.

    Args:
        num_steps: How many steps there are.
        skip: Chance of each step to be left out; one step always stays.
        repeat: Chance of each step that is done to be done twice.
        swap: Chance of each pair of neighbours to change places; no step moves twice.
        rng: Where the chance comes from.
    """
    draws = rng.random((3, num_steps))
    skipped = [k for k in range(num_steps) if draws[0, k] < skip]
    if len(skipped) == num_steps:
        skipped.pop(int(draws[0].argmax()))
    kept = [k for k in range(num_steps) if k not in skipped]
    swapped: list[tuple[int, int]] = []
    for k in range(len(kept) - 1):
        moved_already = bool(swapped) and swapped[-1][1] == kept[k]
        if draws[2, kept[k]] < swap and not moved_already:
            swapped.append((kept[k], kept[k + 1]))
    order = list(kept)
    for one, other in swapped:
        at = order.index(one)
        order[at : at + 2] = [other, one]
    repeated = tuple(k for k in kept if draws[1, k] < repeat)
    steps = tuple(k for step in order for k in ([step] * (2 if step in repeated else 1)))
    return Order(steps, tuple(skipped), repeated, tuple(swapped))
