"""`WorkbenchTruth`: which step is under way, what the hands touch, where everything is."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.worlds.painter import Floats
from wordsight.worlds.sketch import turned
from wordsight.worlds.truth import FilmTruth, runs
from wordsight.worlds.workbench.bench import VIEW, seen
from wordsight.worlds.workbench.hands import extent_of, joints_of
from wordsight.worlds.workbench.recording import HANDS, WorkbenchRecording
from wordsight.worlds.workbench.things import THINGS

__all__ = ["WorkbenchTruth"]


class WorkbenchTruth(FilmTruth[WorkbenchRecording]):
    """Ground truth of one film."""

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
    def boxes(self) -> Mapping[str, Floats]:
        """For both hands and every thing ``(T, 4)`` pixels x1, y1, x2, y2; NaN while out of sight.

        A hand reaches from the finger tips to the wrist. The boxes are whole: what something in
        front hides is part of them.
        """
        boxes = {}
        for hand, side, poses in zip(
            HANDS, (-1.0, 1.0), zip(*self.recording.poses, strict=True), strict=True
        ):
            extents = [extent_of(joints_of(pose, side)) for pose in poses]
            boxes[hand] = self._framed(VIEW, extents)
        for number, name in enumerate(self.recording.things):
            boxes[name] = self._framed(VIEW, self._outlines(number))
        return MappingProxyType(boxes)

    def record(self) -> dict[str, Any]:
        """Return the truth for ``truth.jsonl``."""
        order = self.recording.order
        return {
            "effects": dict(vars(self._effects)),
            "title": self.recording.protocol.title,
            "steps": [
                {
                    "step": number,
                    "kind": step.kind,
                    "sentences": [
                        {"text": sentence.text, "things": list(sentence.named())}
                        for sentence in step.sentences
                    ],
                }
                for number, step in enumerate(self.recording.protocol.steps, start=1)
            ],
            "order": [step + 1 for step in order.steps],
            "skipped": [step + 1 for step in order.skipped],
            "repeated": [step + 1 for step in order.repeated],
            "swapped": [[one + 1, other + 1] for one, other in order.swapped],
            "moments": [
                {"step": m.step + 1, "sentence": m.sentence, **self._span(m.first, m.last)}
                for m in self.recording.moments
            ],
            "touches": self._touches(),
            "boxes": self._boxes_record(),
        }

    def _touches(self) -> list[dict[str, Any]]:
        """List which hand touched what from which frame to which, in order of time."""
        touches = [
            {"hand": hand, "thing": thing, **self._span(first, last)}
            for number, hand in enumerate(HANDS)
            for thing, first, last in runs(poses[number].touching for poses in self.recording.poses)
            if thing is not None
        ]
        return sorted(touches, key=lambda touch: touch["frames"])

    def _outlines(self, number: int) -> Floats:
        """Return ``(T, N, 2)`` metres as seen: the outline of a thing in every frame."""
        recording = self.recording
        name = recording.things[number]
        outline = THINGS[name].sprite(recording.looks[0][number], VIEW.scale, 0.0).outline
        angles, kinds = np.unique(recording.angles[number], return_inverse=True)
        shapes = np.stack([turned(outline, float(angle)) for angle in angles])
        return shapes[kinds] + seen(recording.places[number])[:, None]
