"""A tiny film of a sliding square, for tests of what all worlds share."""

import numpy as np

from wordsight.worlds import RenderedFilm


class SquareTruth:
    """A square that moves two pixels per frame."""

    def __init__(self, num_frames: int, seed: int) -> None:
        left = 4.0 + 2.0 * np.arange(num_frames)
        top = np.full(num_frames, 8.0)
        self.boxes = {"square": np.stack([left, top, left + 10, top + 10], axis=1)}
        self._seed = seed

    def record(self):
        return {"seed": self._seed, "boxes": {k: v.tolist() for k, v in self.boxes.items()}}


def toy_film(
    index: int, seed: int = 0, *, num_frames: int = 6, fail_at: int | None = None
) -> RenderedFilm:
    truth = SquareTruth(num_frames, seed)

    def make_picture():
        def paint(frame: int):
            if frame == fail_at:
                raise KeyboardInterrupt
            image = np.full((48, 64, 3), 20 + seed, np.uint8)
            x1, y1, x2, y2 = truth.boxes["square"][frame].astype(int)
            image[y1:y2, x1:x2] = 220
            return image

        return paint

    return RenderedFilm(
        name=f"toy-{index:03d}",
        world="toy",
        index=index,
        random_state=seed,
        frame_rate=10.0,
        size=(64, 48),
        num_frames=num_frames,
        sentences=(f"The square {index} slid.", "It was pale."),
        truth=truth,
        crf=20,
        make_picture=make_picture,
    )
