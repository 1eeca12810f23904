"""Films of a hand that fetches a cup, as boxes with identities."""

import numpy as np

from wordsight.alignment import Instructions, Line
from wordsight.records import Detections

TEXT = Instructions(
    "cup",
    (
        Line("Reach for the cup.", 0, ("cup",), ("reach",)),
        Line("Move the cup.", 1, ("cup",), ("move",)),
        Line("Lower the cup.", 2, ("cup",), ("lower",)),
    ),
)


def fetching(number):
    """Return boxes of a hand that fetches a cup, and when each line happens.

    Durations vary widely, so that the clock is of no help.
    """
    rng = np.random.default_rng(number)
    ends = np.cumsum(rng.integers(15, 90, 3))
    t = np.arange(ends[-1], dtype=float)
    starts = np.r_[0, ends[:-1]]
    reach, carry, lower = (
        np.clip((t - a) / (b - a), 0, 1) for a, b in zip(starts, ends, strict=True)
    )
    cup = np.stack([150 + 250 * carry, 150 + 120 * lower], axis=1)
    hand = np.stack([500 - 350 * reach + 250 * carry, 150 + 120 * lower], axis=1)
    noise = rng.normal(0, 1.0, (2, len(t), 2))
    boxes = [np.hstack([c - s, c + s]) for c, s in ((cup + noise[0], 20), (hand + noise[1], 15))]
    boxes.append(np.broadcast_to([30.0, 400, 70, 440], boxes[0].shape))
    shape = (len(t), 3)
    seen = Detections(
        times=t / 30,
        boxes=np.stack(boxes, axis=1),
        scores=np.ones(shape),
        labels=np.broadcast_to([0, 1, 2], shape),
        mask=np.ones(shape, dtype=bool),
        label_names=("cup", "hand", "plate"),
        frame_size=(640, 480),
        ids=np.broadcast_to([0, 1, 2], shape),
    )
    return seen, np.stack([starts, ends], axis=1) / 30
