"""People: found on a real street, boxes that fit, and nothing where nobody is."""

import numpy as np
import pytest

from wordsight.perception import DetectorError
from wordsight.perception.detectors.people import People
from wordsight.perception.detectors.suppression import box_iou
from wordsight.video import Frame, VideoReader

# Marked by hand: people who stand free, in pixels of the 768 x 576 frames.
STREET = {
    8: [(304, 212, 330, 296), (480, 165, 504, 242), (577, 237, 606, 326)],
    30: [(630, 252, 668, 352), (668, 250, 695, 345)],
    50: [(370, 180, 400, 258), (508, 215, 540, 306), (552, 212, 588, 302), (668, 258, 712, 372)],
    70: [(586, 210, 622, 308)],
}


@pytest.fixture(scope="module")
def street(shared_data):
    with VideoReader(shared_data("videos", "cv__video__768x576.avi")) as video:
        frames = [frame for frame in video.frames(end=3.0) if frame.index in STREET]
        return dict(zip(STREET, People().detect(frames), strict=True))


def test_finds_most_people_of_a_real_street(street):
    overlaps = np.concatenate(
        [box_iou(np.array(STREET[n], float), street[n].boxes).max(axis=1) for n in STREET]
    )
    assert (overlaps > 0.4).mean() >= 0.8, overlaps.round(2)


def test_few_of_the_boxes_are_elsewhere(street):
    count = sum(len(seen.boxes) for seen in street.values())
    people = sum(len(boxes) for boxes in STREET.values())
    assert count <= people + 6  # some people who do not stand free are found as well
    for seen in street.values():
        assert ((seen.scores >= 0.4) & (seen.scores <= 1)).all()
        assert (seen.boxes[:, :2] >= 0).all() and (seen.boxes[:, 2:] <= [768, 576]).all()


def test_nobody_in_an_empty_picture():
    rng = np.random.default_rng(0)
    noise = rng.integers(100, 120, (240, 320, 3), dtype=np.uint8)
    (seen,) = People().detect([Frame.from_array(noise, 1.5)])
    assert seen.boxes.shape == (0, 4) and seen.scores.shape == (0,) and seen.time == 1.5


@pytest.mark.parametrize(
    "size", [(1, 1), (40, 400), (500, 30), (64, 128)]
)  # smaller than the model
def test_any_size_of_frame_is_taken(size):
    frame = Frame.from_array(np.zeros((size[1], size[0], 3), np.uint8), 0.0)
    assert len(next(People(smallest=1.0).detect([frame])).boxes) == 0


@pytest.mark.parametrize(
    "options", [{"smallest": 0}, {"smallest": 2}, {"confidence": -1}, {"max_boxes": 0}]
)
def test_senseless_options_are_refused(options):
    with pytest.raises(DetectorError, match=next(iter(options))):
        People(**options)


def test_settings_say_everything():
    assert People(smallest=0.3, max_boxes=2).settings() == {
        "smallest": 0.3,
        "confidence": 0.4,
        "max_boxes": 2,
    }
