"""`WorkbenchTruth`: which step is under way, what the hands touch, where everything is."""

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.camera import Effects
from wordsight.worlds.framing import rounded_boxes, span_of, visible
from wordsight.worlds.sketch import turned
from wordsight.worlds.workbench.bench import SIZE, VIEW, seen
from wordsight.worlds.workbench.hand_painter import extent_of
from wordsight.worlds.workbench.hands import joints_of
from wordsight.worlds.workbench.recording import HANDS, WorkbenchRecording
from wordsight.worlds.workbench.things import THINGS

__all__ = ["WorkbenchTruth"]


class WorkbenchTruth:
    """What is known about one film.

    Args:
        recording: What happened.
        effects: How the picture is spoiled; kept in the record.
        offsets: ``(T, 2)`` pixels by which the camera's shake moves each frame; none if not given.

    Attributes:
        recording: As above.
    """

    def __init__(
        self,
        recording: WorkbenchRecording,
        effects: Effects | None = None,
        offsets: NDArray[np.float64] | None = None,
    ) -> None:
        self.recording = recording
        self._effects = Effects.at(0.0) if effects is None else effects
        still = np.zeros((recording.num_frames, 2))
        self._offsets = still if offsets is None else offsets

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """``(T,)`` number of the step under way, counting from 1 as in the text; 0 for none."""
        numbers = np.zeros(self.recording.num_frames, dtype=np.int64)
        for moment in self.recording.moments:
            numbers[moment.first : moment.last + 1] = moment.step + 1
        return numbers

    @cached_property
    def sentences(self) -> NDArray[np.int64]:
        """``(T,)`` number of the sentence under way, counting from 0; -1 for none."""
        numbers = np.full(self.recording.num_frames, -1)
        for moment in self.recording.moments:
            numbers[moment.first : moment.last + 1] = moment.sentence
        return numbers

    def touched(self, frame: int) -> dict[str, str]:
        """Return what each hand touches in a frame; hands that touch nothing are left out."""
        poses = zip(HANDS, self.recording.poses[frame], strict=True)
        return {hand: pose.touching for hand, pose in poses if pose.touching is not None}

    @cached_property
    def boxes(self) -> Mapping[str, NDArray[np.float64]]:
        """For both hands and every thing ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        A hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        boxes = {}
        for number, hand in enumerate(HANDS):
            side = -1.0 if number == 0 else 1.0
            poses = [frame[number] for frame in self.recording.poses]
            boxes[hand] = self._framed([extent_of(joints_of(pose, side)) for pose in poses])
        for number, name in enumerate(self.recording.things):
            boxes[name] = self._framed(self._outlines(number))
        return MappingProxyType(boxes)

    def record(self) -> dict[str, Any]:
        """Return the truth as JSON can hold it; see the guide to worlds for the fields."""
        order = self.recording.order
        return {
            "effects": dict(vars(self._effects)),
            "title": self.recording.protocol.title,
            "steps": self._protocol(),
            "order": [step + 1 for step in order.steps],
            "skipped": [step + 1 for step in order.skipped],
            "repeated": [step + 1 for step in order.repeated],
            "swapped": [[one + 1, other + 1] for one, other in order.swapped],
            "moments": self._moments(),
            "touches": self._touches(),
            "boxes": {name: rounded_boxes(boxes) for name, boxes in self.boxes.items()},
        }

    def _protocol(self) -> list[dict[str, Any]]:
        return [
            {
                "step": number,
                "kind": step.kind,
                "sentences": [
                    {"text": sentence.text, "things": list(sentence.named())}
                    for sentence in step.sentences
                ],
            }
            for number, step in enumerate(self.recording.protocol.steps, start=1)
        ]

    def _moments(self) -> list[dict[str, Any]]:
        rate = self.recording.frame_rate
        return [
            {"step": m.step + 1, "sentence": m.sentence, **span_of(m.first, m.last, rate)}
            for m in self.recording.moments
        ]

    def _touches(self) -> list[dict[str, Any]]:
        """Tell which hand touched what from which frame to which, in order of time."""
        touches = []
        for number, hand in enumerate(HANDS):
            names = [frame[number].touching for frame in self.recording.poses]
            changes = [k for k in range(1, len(names)) if names[k] != names[k - 1]]
            for first, end in pairwise([0, *changes, len(names)]):
                if names[first] is not None:
                    span = span_of(first, end - 1, self.recording.frame_rate)
                    touches.append({"hand": hand, "thing": names[first], **span})
        return sorted(touches, key=lambda touch: touch["frames"])

    def _outlines(self, number: int) -> NDArray[np.float64]:
        """Return ``(T, N, 2)`` metres as seen: the outline of a thing in every frame."""
        recording = self.recording
        name = recording.things[number]
        outline = THINGS[name].sprite(recording.looks[0][number], VIEW.scale, 0.0).outline
        angles, kinds = np.unique(recording.angles[number], return_inverse=True)
        shapes = np.stack([turned(outline, float(angle)) for angle in angles])
        return shapes[kinds] + seen(recording.places[number])[:, None]

    def _framed(self, points: Any) -> NDArray[np.float64]:
        """Turn ``(T, N, 2)`` metres as seen into ``(T, 4)`` visible boxes."""
        pixels = VIEW.pixels(points)
        boxes = np.concatenate([pixels.min(axis=1), pixels.max(axis=1)], axis=1)
        return visible(boxes + np.tile(self._offsets, 2), SIZE)
