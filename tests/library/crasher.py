"""A detector of another package that takes its process down on videos of a certain width."""

import os

import numpy as np

from wordsight.records import FrameDetections


class Crasher:
    """Sees the whole picture, and dies of videos 80 pixels wide."""

    name = "crasher"
    label_names = ("picture",)

    def detect(self, frames):
        for frame in frames:
            if frame.size[0] == 80 and frame.index == 5:
                os._exit(42)
            box = np.array([[0.0, 0.0, *frame.size]])
            yield FrameDetections(frame.time, box, np.ones(1), np.zeros(1, np.int32))

    def settings(self):
        return {}
