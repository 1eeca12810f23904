"""Made-up scenes whose true tracks are known."""

from dataclasses import dataclass

import numpy as np

from wordsight.records import Detections, FrameDetections


@dataclass
class Walker:
    """A box that moves on a line, seen from one frame to another except in some."""

    start: tuple[float, float]
    velocity: tuple[float, float]
    size: tuple[float, float] = (30.0, 80.0)
    first: int = 0
    last: int = 10**9
    hidden: tuple[int, ...] = ()
    label: int = 0

    def box(self, time):
        x, y = np.array(self.start) + np.array(self.velocity) * time
        return np.array([x, y, x + self.size[0], y + self.size[1]])


def scene(
    walkers,
    *,
    times=None,
    frames=60,
    frame_rate=25.0,
    jitter=1.5,
    false_alarms=0.0,
    scale=1.0,
    seed=0,
    labels=("person",),
    shuffle=True,
    flow=False,
):
    """Return detections, and for every frame the list of the walkers' numbers in column order."""
    rng = np.random.default_rng(seed)
    times = np.arange(frames) / frame_rate if times is None else np.asarray(times, float)
    made, truth, flows = [], [], []
    for t, time in enumerate(times):
        boxes, scores, kinds, who, moves = [], [], [], [], []
        for number, walker in enumerate(walkers):
            if walker.first <= t <= walker.last and t not in walker.hidden:
                boxes.append(walker.box(time) + rng.normal(0, jitter, 4))
                scores.append(rng.uniform(0.8, 1.0))
                kinds.append(walker.label)
                who.append(number)
                moves.append(walker.velocity)
        for _ in range(rng.poisson(false_alarms)):
            corner = rng.uniform(0, 500, 2)
            boxes.append([*corner, *(corner + rng.uniform(20, 90, 2))])
            scores.append(rng.uniform(0.3, 0.8))
            kinds.append(0)
            who.append(-1)
            moves.append((0.0, 0.0))
        order = rng.permutation(len(boxes)) if shuffle else np.arange(len(boxes))
        made.append(
            FrameDetections(
                float(time),
                scale * np.array(boxes, float).reshape(-1, 4)[order],
                np.array(scores, float)[order],
                np.array(kinds, int)[order],
            )
        )
        flows.append(scale * np.array(moves, float).reshape(-1, 2)[order])
        truth.append(np.array(who, int)[order])
    detections = Detections.from_frames(
        made, label_names=labels, frame_size=(640, 480), flow=flows if flow else None
    )
    return detections, truth


def owners(track, detections, truth):
    """The walkers whose detections lie at the track's observed boxes, frame by frame."""
    found = []
    for time, box, seen in zip(track.times, track.boxes, track.observed, strict=True):
        if seen:
            t = int(np.searchsorted(detections.times, time))
            off = np.abs(detections.frame(t).boxes - box).sum(axis=1)
            found.append(int(truth[t][off.argmin()]))
    return found
