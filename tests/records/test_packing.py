"""More frames than fit in one block come out as if there were no blocks."""

import numpy as np

from wordsight.records import Detections, FrameDetections


def test_many_frames_with_parts_that_come_and_go():
    rng = np.random.default_rng(0)
    frames, flows = [], []
    for t in range(700):
        n = int(rng.integers(0, 4))
        corners = rng.uniform(0, 50, (n, 2))
        late = t >= 300  # identities and looks are only known from the second block on
        frames.append(
            FrameDetections(
                t / 10,
                np.concatenate([corners, corners + 5], axis=1),
                rng.random(n),
                rng.integers(0, 2, n).astype(np.int32),
                rng.random((n, 3)).astype(np.float32) if late else None,
                np.arange(n) if late else None,
            )
        )
        flows.append(rng.random((n, 2)))
    seen = Detections.from_frames(
        iter(frames), label_names=["a", "b"], frame_size=(64, 48), flow=flows
    )
    assert len(seen) == 700
    for t, frame in enumerate(frames):
        again = seen.frame(t)
        assert again.time == frame.time
        assert np.array_equal(again.boxes, frame.boxes)
        assert np.array_equal(again.labels, frame.labels)
        assert np.array_equal(seen.flow[t, seen.mask[t]], flows[t])
        if frame.ids is None:
            assert (again.ids == -1).all()
            assert not again.appearance.any()
        else:
            assert np.array_equal(again.ids, frame.ids)
            assert np.array_equal(again.appearance, frame.appearance)
