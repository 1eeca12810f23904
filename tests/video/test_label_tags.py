"""Tags lie inside the frame, off their box wherever there is room, and off one another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wordsight.video.draw.boxes import draw_tag, place_tag

FRAME = (320, 240)
TAG = (60, 16)


def overlap(one, other):
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0) * max(height, 0)


@st.composite
def boxes(draw):
    x1, y1 = draw(st.integers(-50, 310)), draw(st.integers(-50, 230))
    return x1, y1, x1 + draw(st.integers(1, 400)), y1 + draw(st.integers(1, 300))


@given(box=boxes())
def test_tags_are_inside_the_frame_and_off_the_box_if_they_can(box):
    tag = place_tag(box, TAG, FRAME, [])
    assert (tag[2] - tag[0], tag[3] - tag[1]) == TAG
    assert tag[0] >= 0 and tag[1] >= 0 and tag[2] <= FRAME[0] and tag[3] <= FRAME[1]
    room_around = (box[0], FRAME[0] - box[2], box[1], FRAME[1] - box[3])
    fits = max(room_around[:2]) >= TAG[0] or max(room_around[2:]) >= TAG[1]
    assert not fits or overlap(tag, box) == 0


def test_the_usual_place_is_above_on_the_left():
    assert place_tag((100, 100, 150, 200), TAG, FRAME, []) == (100, 84, 160, 100)


def test_a_box_that_fills_the_frame_has_its_chip_inside():
    assert place_tag((0, 0, *FRAME), TAG, FRAME, []) == (0, 0, 60, 16)


def test_tags_of_boxes_in_the_same_place_do_not_hide_one_another():
    taken = []
    for _ in range(4):
        taken.append(place_tag((100, 100, 150, 200), TAG, FRAME, taken))
    assert all(overlap(a, b) == 0 for i, a in enumerate(taken) for b in taken[:i])


def test_frames_too_small_for_text_stay_as_they_are():
    canvas = np.zeros((20, 30, 3), np.uint8)
    draw_tag(canvas, "person", (5, 5, 10, 10), (255, 255, 255), [])
    assert not canvas.any()
