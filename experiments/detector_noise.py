"""Detections with errors put in: misses, false boxes, wrong classes, jitter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordsight.records import Clip, Detections, FrameDetections

__all__ = ["DetectorNoise", "noisy_clips"]

_FALSE_SIDES = (30.0, 120.0)  # pixels
_FALSE_SCORES = (0.05, 0.5)
_SCORE_LOSS = 0.4  # scores of true boxes fall by up to this
_LEAST_SIDE = 2.0  # pixels; jitter never turns a box inside out


@dataclass(frozen=True)
class DetectorNoise:
    """How often a detector errs.

    Attributes:
        misses: Share of the boxes that are not detected.
        false_boxes: False boxes per frame, of any place, size and class.
        confusion: Share of the boxes whose class is drawn at random.
        jitter: Standard deviation of the corners in pixels.
        wrong_sentences: Share of the training clips whose sentences are those of another clip.
    """

    misses: float = 0.2
    false_boxes: int = 2
    confusion: float = 0.1
    jitter: float = 3.0
    wrong_sentences: float = 0.0


def noisy_clips(clips: Sequence[Clip], noise: DetectorNoise, random_state: int) -> list[Clip]:
    """Return clips as a detector with errors would report them, without identities."""
    rng = np.random.default_rng(random_state)
    names = sorted({name for clip in clips for name in clip.detections.label_names})
    return [_noisy(clip, noise, names, rng) for clip in clips]


def _noisy(
    clip: Clip, noise: DetectorNoise, names: Sequence[str], rng: np.random.Generator
) -> Clip:
    seen = clip.detections
    index = np.array([names.index(name) for name in seen.label_names])
    size = np.array(seen.frame_size, dtype=np.float64)
    frames = []
    for time, frame in zip(seen.times, map(seen.frame, range(len(seen))), strict=True):
        found = rng.random(len(frame.boxes)) >= noise.misses
        boxes = frame.boxes[found] + rng.normal(0.0, noise.jitter, (int(found.sum()), 4))
        kinds = index[frame.labels[found]]
        flipped = rng.random(len(kinds)) < noise.confusion
        kinds[flipped] = rng.integers(len(names), size=int(flipped.sum()))
        scores = np.clip(frame.scores[found] - rng.uniform(0, _SCORE_LOSS, len(kinds)), 0.05, 1.0)
        count = noise.false_boxes
        centres = rng.uniform(40.0, size - 40.0, (count, 2))
        sides = rng.uniform(*_FALSE_SIDES, (count, 2))
        wrong = np.concatenate([centres - sides / 2, centres + sides / 2], axis=1)
        boxes = np.concatenate([boxes, wrong])
        boxes[:, :2] = np.minimum(boxes[:, :2], boxes[:, 2:] - _LEAST_SIDE)
        kinds = np.append(kinds, rng.integers(len(names), size=count)).astype(np.int32)
        scores = np.append(scores, rng.uniform(*_FALSE_SCORES, count))
        frames.append(FrameDetections(float(time), boxes, scores, kinds))
    noisy = Detections.from_frames(frames, label_names=names, frame_size=seen.frame_size)
    return replace(clip, detections=noisy)
