"""What a detector saw becomes what hands handle, with a class for hands and without one."""

import numpy as np
import pytest

from wordsight.alignment.observe import DetectedThings, HandlingSettings
from wordsight.alignment.observe.detections import (
    displacements,
    grip_points,
    label_by_appearance,
    relative_speeds,
)
from wordsight.records import Detections, FrameDetections

SIZE = (640, 480)
NAMES = ("hand", "cup", "bag", "person")


def detections(frames, flow=None, names=NAMES):
    """Make detections out of lists of (label, x, y, width, height) per tenth of a second."""
    records = []
    for number, rows in enumerate(frames):
        boxes = np.array([[x, y, x + w, y + h] for _, x, y, w, h in rows], float).reshape(-1, 4)
        labels = np.array([names.index(row[0]) for row in rows], dtype=np.int32)
        records.append(FrameDetections(number / 10, boxes, np.ones(len(rows)), labels))
    return Detections.from_frames(records, label_names=names, frame_size=SIZE, flow=flow)


def handled(frames, **kwargs):
    rule = HandlingSettings(**kwargs)
    return [
        (round(c.start, 3), set(c.things))
        for c in DetectedThings("film", detections(frames), rule).observe().chunks
    ]


def hand_at(x, y):
    # A hand from below whose grip is a little under the top of its box.
    return ("hand", x - 30, y - 30, 60, 100)


CUP, BAG = ("cup", 100, 200, 40, 60), ("bag", 400, 200, 60, 60)


def test_the_thing_at_a_hands_grip_is_handled():
    frames = [[CUP, BAG, hand_at(120, 230)]] * 10 + [[CUP, BAG, hand_at(430, 230)]] * 10
    assert handled(frames) == [(0.0, {"cup"}), (0.5, {"cup"}), (1.0, {"bag"}), (1.5, {"bag"})]


def test_a_hand_far_from_everything_handles_nothing():
    assert handled([[CUP, BAG, hand_at(270, 230)]] * 10) == []


def test_a_hand_at_the_edge_rests():
    low = ("cup", 100, 420, 40, 60)
    frames = [[low, ("hand", 90, 430, 60, 50)]] * 10
    assert handled(frames) == []
    assert handled(frames, rest=0.0) == [(0.0, {"cup"}), (0.5, {"cup"})]


def test_of_two_things_at_the_grip_the_one_that_moves_is_handled():
    rows = []
    for number in range(20):
        x = 100 + 6 * number
        rows.append([("cup", x, 200, 40, 60), ("bag", 90, 180, 160, 120), hand_at(x + 20, 230)])
    found = {name for _, things in handled(rows) for name in things}
    assert found == {"cup"}


def test_people_are_not_handled():
    assert handled([[("person", 90, 190, 80, 200), hand_at(120, 230)]] * 10) == []


def test_a_video_with_no_touch_at_all():
    empty = DetectedThings("film", detections([[]] * 5)).observe()
    assert empty.chunks == ()
    assert empty.duration == pytest.approx(0.5)
    assert DetectedThings("film", detections([])).observe().chunks == ()


def test_without_hands_what_moves_is_handled():
    names = ("look-0", "look-1")
    frames = [[("look-0", 100, 200, 40, 60), ("look-1", 400, 200, 40, 60)]] * 10
    flow = [[[80.0, 0.0], [0.0, 0.0]]] * 10
    seen = DetectedThings("film", detections(frames, flow, names)).observe()
    assert [set(chunk.things) for chunk in seen.chunks] == [{"look-0"}] * 2
    assert [set(chunk.verbs) for chunk in seen.chunks] == [{"shifting"}] * 2


def test_without_hands_what_an_arm_reaches_is_handled():
    names = ("look-0", "look-1")
    # The arm comes in from below and ends at the cup.
    arm = ("look-1", 90, 180, 80, 300)
    frames = [[("look-0", 110, 180, 40, 50), ("look-0", 500, 100, 40, 50), arm]] * 10
    flow = [[[0.0, 0.0], [0.0, 0.0], [0.0, -90.0]]] * 10
    seen = DetectedThings("film", detections(frames, flow, names)).observe()
    assert [set(chunk.things) for chunk in seen.chunks] == [{"look-0"}] * 2


def test_motion_without_flow_is_measured_between_frames():
    frames = [[("cup", 100 + 8 * n, 200, 40, 60), ("bag", 400, 200, 40, 60)] for n in range(10)]
    speeds = relative_speeds(detections(frames))
    assert speeds[5] == pytest.approx([80 / 800, 0.0])
    assert displacements(detections(frames))[5] == pytest.approx([40, 0])


def test_what_all_boxes_share_is_the_cameras_motion():
    frames = [[("cup", 90 * n, 200, 40, 60) for n in range(6)]] * 3
    flow = [[[50.0, 0.0]] * 5 + [[50.0, 80.0]]] * 3
    assert relative_speeds(detections(frames, flow))[1] == pytest.approx([0, 0, 0, 0, 0, 0.1])


@pytest.mark.parametrize(
    ("box", "grip"),
    [
        ((200, 300, 260, 480), (230, 342.24)),  # from below, holds near its top
        ((0, 200, 300, 260), (300 - 42.24, 230)),  # from the left
        ((340, 200, 640, 260), (340 + 42.24, 230)),  # from the right
        ((200, 0, 260, 100), (230, 70)),  # from above
        ((200, 200, 260, 300), (230, 230)),  # in the middle
    ],
)
def test_grips(box, grip):
    assert grip_points(np.array([box], float), SIZE)[0] == pytest.approx(grip)


def test_regions_are_named_alike_in_all_videos():
    rng = np.random.default_rng(0)

    def video(centre):
        frames = [
            FrameDetections(
                n / 10,
                np.array([[10.0, 10, 30, 30]]),
                np.ones(1),
                np.zeros(1, int),
                appearance=(rng.normal(0, 0.05, (1, 3)) + centre).astype(np.float32),
            )
            for n in range(40)
        ]
        return Detections.from_frames(frames, label_names=("region",), frame_size=SIZE)

    red, blue, other_red = label_by_appearance(
        [video([1, 0, 0]), video([0, 0, 1]), video([1, 0, 0])]
    )
    assert set(red.labels.ravel()) == set(other_red.labels.ravel()) != set(blue.labels.ravel())


def test_detections_with_classes_keep_them():
    seen = detections([[CUP, BAG]])
    assert label_by_appearance([seen])[0] is seen
