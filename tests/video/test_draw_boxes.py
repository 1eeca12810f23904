"""Pictures are not changed, colours and places are the ones promised, and nothing makes it fail."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.errors import VideoError
from wordsight.records import FrameDetections, Track
from wordsight.video.draw.boxes import box_at, draw_caption, draw_detections, draw_tracks
from wordsight.video.draw.text import PALETTE

SENTENCE = "The person who came from the left picked up the backpack and walked away with it."


def grey(width=320, height=240, level=128):
    return np.full((height, width, 3), level, np.uint8)


def found(boxes, labels=None, ids=None):
    boxes = np.array(boxes, dtype=float).reshape(-1, 4)
    labels = np.zeros(len(boxes), int) if labels is None else np.array(labels)
    scores = np.linspace(0.5, 1, len(boxes))
    return FrameDetections(0.0, boxes, scores, labels, ids=None if ids is None else np.array(ids))


def moving(track_id=0, observed=True, end=2.0):
    times = np.arange(0, 2, 0.1)
    boxes = np.stack([50 + 50 * times, 80 + 0 * times, 90 + 50 * times, 160 + 0 * times], axis=1)
    seen = np.full(len(times), observed)
    return Track("v", 0.0, end, 1.0, times, boxes, seen * 1.0, seen, "person", track_id)


def changed(before, after):
    return (before != after).any(axis=2)


def test_the_given_picture_is_not_changed_and_may_be_read_only():
    image = grey()
    image.setflags(write=False)
    for result in (
        draw_detections(image, found([[10, 60, 50, 90]]), ["person"]),
        draw_tracks(image, [moving()], 1.0),
        draw_caption(image, SENTENCE),
    ):
        assert result.shape == image.shape and result.dtype == np.uint8
        assert (image == 128).all() and (result != 128).any()
        result[0, 0] = 7  # the result is the caller's own


def test_a_box_is_drawn_on_its_outermost_pixels_in_the_colour_of_its_label():
    after = draw_detections(grey(), found([[100, 60, 150, 120]], labels=[2]), ["a", "b", "c"])
    colour = PALETTE[2]
    assert tuple(after[90, 100]) == tuple(after[90, 149]) == colour
    assert tuple(after[119, 120]) == colour
    assert tuple(after[90, 125]) == (128, 128, 128)  # the inside stays free


def test_identity_counts_more_than_label():
    seen = found([[100, 60, 150, 120]], labels=[0], ids=[3])
    after = draw_detections(grey(), seen, ["person"])
    assert tuple(after[90, 100]) == PALETTE[3]


def test_tags_lie_outside_their_box():
    box = (100, 60, 150, 120)
    touched = changed(grey(), draw_detections(grey(), found([box]), ["a long label of a box"]))
    assert not touched[box[1] + 5 : box[3] - 5, box[0] + 5 : box[2] - 5].any()
    assert touched[: box[1]].sum() > 500


@settings(max_examples=30, deadline=None)
@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    box=st.tuples(*[st.floats(-1e6, 1e6)] * 2, *[st.floats(1e-3, 1e6)] * 2),
    words=st.text("aW é日\n ", max_size=80),
)
def test_no_frame_box_or_text_makes_drawing_fail(size, box, words):
    image = grey(*size)
    corners = (box[0], box[1], box[0] + box[2], box[1] + box[3])
    drawn = draw_caption(draw_detections(image, found([corners]), [words]), words)
    track = Track("v", 0, 1, 0, [0.0, 1.0], [corners, corners], [1, 1], [True, False], words, 5)
    assert draw_tracks(drawn, [track], 0.5).shape == image.shape


def test_labels_without_a_name_are_numbers_and_none_is_nothing():
    assert (draw_detections(grey(), found([[10, 60, 50, 90]], labels=[9]), []) != 128).any()
    assert (draw_detections(grey(), found([]), ["person"]) == 128).all()


@pytest.mark.parametrize(
    ("time", "left"),
    [
        (-0.01, None),  # before it begins
        (0.0, 50),  # at its first box
        (0.05, 52.5),  # half way between two
        (1.9, 145),  # at its last box
        (1.95, 145),  # until it ends
        (2.0, None),  # the end is exclusive
    ],
)
def test_a_track_is_where_it_was_between_its_times(time, left):
    place = box_at(moving(), time)
    if left is None:
        assert place is None
    else:
        assert place[0][0] == pytest.approx(left)
        assert place[1]


def test_the_last_box_shows_even_if_the_track_ends_with_it():
    track = moving(end=1.9)
    assert box_at(track, float(track.times[-1])) is not None
    assert box_at(track, float(track.times[-1]) + 0.01) is None


def test_trails_fade_backward_along_the_centres():
    image = grey(640, 480, 0)
    after = draw_tracks(image, [moving()], 1.9, trail_seconds=1.5).astype(int)
    # The centre moves at 50 px/s along y = 120; sample it clear of the box, from new to old.
    strength = [after[120, round(70 + 50 * t)].sum() for t in (1.4, 1.0, 0.6)]
    assert strength[0] > strength[1] > strength[2] > 0
    assert after[120, round(70 + 50 * 0.2)].sum() == 0  # older than the trail
    without = draw_tracks(image, [moving()], 1.9, trail_seconds=0)
    assert without[120, 140].sum() == 0


def test_boxes_nobody_saw_are_dashed():
    solid, dashed = (
        draw_tracks(grey(), [moving(observed=seen)], 1.0, trail_seconds=0) for seen in (True, False)
    )
    colour = np.array(PALETTE[0])
    counts = [(image[100:150, 100] == colour).all(axis=1).sum() for image in (solid, dashed)]
    assert counts[0] == 50
    assert 15 < counts[1] < 35


def test_tracks_not_there_leave_the_picture_alone():
    assert (draw_tracks(grey(), [moving()], 7.0) == 128).all()


@pytest.mark.parametrize("size", [(320, 240), (1920, 1080), (240, 426)])
def test_captions_are_readable_at_the_bottom(size):
    image = grey(*size)
    after = draw_caption(image, SENTENCE)
    rows = np.nonzero(changed(image, after).all(axis=1))[0]
    assert rows.max() == size[1] - 1  # the band reaches the bottom,
    assert len(rows) < 0.4 * size[1]  # and leaves most of the picture free
    assert after.max() > 240 and after[rows].min() < 60  # light letters on a dark band
    letters = after[rows].min(axis=2) > 200
    lit = np.nonzero(letters.any(axis=1))[0]
    assert lit.max() - lit.min() >= 7  # capitals of at least 7 pixels
    columns = np.nonzero(letters.any(axis=0))[0]
    assert columns.min() > 0.01 * size[0] and columns.max() < 0.99 * size[0]


def test_an_endless_caption_is_cut():
    after = draw_caption(grey(), SENTENCE * 50)
    assert (after[: 240 // 2 - 25] == 128).all()


def test_an_empty_caption_draws_nothing():
    assert (draw_caption(grey(), " \n ") == 128).all()


def test_what_is_not_an_image_is_refused():
    with pytest.raises(VideoError, match="height, width, 3"):
        draw_caption(np.zeros((4, 4)), "x")
