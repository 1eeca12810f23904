"""One pass from video to detections: every frame once, flow in place, detectors with delay."""

import numpy as np
import pytest

from tests.video.sample_videos import encode
from wordsight.errors import VideoWarning
from wordsight.perception import DetectorError, load_detector, observe, watch
from wordsight.perception.detectors.regions import Regions
from wordsight.perception.detectors.registry import detector_factory
from wordsight.records import FrameDetections
from wordsight.video import Frame, VideoReader

SIZE = (160, 120)
SPEED = 40.0  # pixels per second


def picture(time):
    rng = np.random.default_rng(3)
    image = np.repeat(rng.integers(80, 100, (120, 160, 1), dtype=np.uint8), 3, axis=2)
    x = 20 + round(SPEED * time)
    patch = rng.integers(0, 90, (40, 30, 3)) + np.array([150, 20, 20])
    image[40:80, x : x + 30] = patch.astype(np.uint8)
    return image


class Delayed:
    """Reports the whole frame, some frames late."""

    name = "delayed"
    label_names = ("all",)

    def __init__(self, delay, *, lose=0, swap=False):
        self.delay, self.lose, self.swap = delay, lose, swap
        self.held = 0

    def detect(self, frames):
        waiting = []
        for frame in frames:
            waiting.append(frame)
            self.held = max(self.held, len(waiting))
            if len(waiting) > self.delay:
                yield self.see(waiting.pop(1 if self.swap else 0))
        for frame in waiting[: len(waiting) - self.lose]:
            yield self.see(frame)

    def see(self, frame):
        boxes = np.array([[0, 0, *frame.size]], float)
        return FrameDetections(frame.time, boxes, np.ones(1), np.zeros(1, np.int32))

    def settings(self):
        return {}


def frames(count=20, rate=20.0):
    return [Frame.from_array(picture(n / rate), n / rate, n) for n in range(count)]


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("observe") / "slide.mp4"
    encode(path, [picture(n / 20) for n in range(30)], rate=20, options={"crf": "12"})
    return path


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0, 1, 7, 50])  # 50: all frames at the end
def test_a_detector_may_answer_late(delay):
    seen = watch(frames(), Delayed(delay), SIZE)
    assert seen.times.tolist() == [n / 20 for n in range(20)]
    assert seen.mask.all() and seen.label_names == ("all",) and seen.frame_size == SIZE
    reference = watch(frames(), Delayed(0), SIZE)
    np.testing.assert_array_equal(seen.flow, reference.flow)


def test_flow_follows_the_thing_and_the_last_frame_has_none(video):
    with VideoReader(video) as reader:
        seen = observe(reader, Regions())
    patches = [frame_boxes(seen, t) for t in range(8, 25)]
    speeds = [seen.flow[t, j] for t, j in patches]
    assert np.median([speed[0] for speed in speeds]) == pytest.approx(SPEED, rel=0.25)
    assert abs(np.median([speed[1] for speed in speeds])) < 6
    assert not seen.flow[-1].any()


def frame_boxes(seen, t):
    """Find the place of the box that covers the patch best."""
    x = 20 + round(SPEED * seen.times[t])
    truth = np.array([x, 40, x + 30, 80.0])
    gaps = np.where(seen.mask[t], np.abs(seen.boxes[t] - truth).max(axis=1), np.inf)
    assert gaps.min() < 6, f"no box near {truth} at {seen.times[t]} s"
    return t, int(gaps.argmin())


def test_part_of_a_video_at_a_lower_rate_without_flow(video):
    with VideoReader(video) as reader:
        seen = observe(reader, Delayed(0), rate=10, start=0.5, end=1.0, flow=False)
    assert seen.times.tolist() == pytest.approx([0.5, 0.6, 0.7, 0.8, 0.9])
    assert seen.flow is None and seen.frame_size == SIZE


def test_progress_counts_the_seconds_up_to_the_end(video):
    calls = []
    with VideoReader(video) as reader:
        observe(reader, Delayed(0), progress=lambda *call: calls.append(call), flow=False)
    done = [call[0] for call in calls]
    assert done == sorted(done) and done[-1] == calls[-1][1] == pytest.approx(1.5)
    assert {call[2] for call in calls} == {"slide.mp4"}


def test_others_can_look_at_the_frames_as_they_pass():
    noted = []

    def tap():
        for frame in frames():
            noted.append(frame.index)
            yield frame

    watch(tap(), Delayed(2), SIZE, flow=False)
    assert noted == list(range(20))


def test_frames_are_not_hoarded():
    alive = []

    def tap():
        for n in range(40):
            frame = Frame.from_array(picture(n / 20), n / 20, n)
            alive.append(frame)
            yield frame
            while len(alive) > 3:  # what the detector and the flow may still need
                alive.pop(0)._image = None  # using it again would fail

    seen = watch(tap(), Delayed(1), SIZE)
    assert len(seen) == 40 and len(alive) == 3


def test_no_frames_give_empty_detections():
    seen = watch([], Delayed(0), SIZE)
    assert len(seen) == 0 and seen.flow is not None and seen.label_names == ("all",)


@pytest.mark.parametrize(
    "detector, words",
    [
        (Delayed(0, lose=0, swap=False), None),
        (Delayed(3, lose=2), "yielded none for 2 frames from 0.9 s"),  # forgets the last ones
        (Delayed(3, swap=True), "one result per frame in order"),  # mixes them up
    ],
)
def test_detectors_that_lose_or_mix_up_frames_are_found_out(detector, words):
    if words is None:
        assert len(watch(frames(), detector, SIZE, flow=False)) == 20
        return
    with pytest.raises(DetectorError, match=words):
        watch(frames(), detector, SIZE, flow=False)


def test_a_detector_that_invents_frames_is_found_out():
    class Inventing(Delayed):
        def detect(self, frames):
            yield from super().detect(frames)
            yield FrameDetections(9.0, np.zeros((0, 4)), np.zeros(0), np.zeros(0, np.int32))

    with pytest.raises(DetectorError, match=r"yielded 9\.0 s instead of no frame"):
        watch(frames(), Inventing(0), SIZE, flow=False)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("regions", "nothing moved"),
        ("people", "upright people alone"),
        ("rendered", "rendered worlds alone"),
        ("people,regions", "people: it knows.*; regions: nothing moved"),
    ],
)
def test_every_detector_says_why_it_found_nothing(name, words):
    frames = [Frame.from_array(np.full((96, 128, 3), 114, np.uint8), t / 10) for t in range(3)]
    with pytest.warns(VideoWarning, match=f"found nothing in 3 frames: .*{words}"):
        watch(frames, load_detector(name), (128, 96))


def test_every_detector_that_comes_with_wordsight_can_say_why():
    for name in ("boxes", "hands", "objects", "onnx", "people", "regions", "rendered"):
        assert callable(detector_factory(name).explain_nothing), name


def test_boxes_of_other_frames_are_explained(tmp_path):
    path = tmp_path / "late.csv"
    path.write_text("frame,time,id,label,score,x1,y1,x2,y2\n7,0.7,0,cup,1,1,1,9,9\n")
    frames = [Frame.from_array(np.zeros((96, 128, 3), np.uint8), t / 10, t) for t in range(3)]
    with pytest.warns(VideoWarning, match=r"1 boxes of late.csv lie on frames 7 to 7"):
        watch(frames, load_detector("boxes", path=path), (128, 96))
