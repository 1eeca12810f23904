"""Overlap of boxes against counted pixels, and which boxes survive."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.perception.detectors.suppression import areas, box_iou, intersections, suppress

CORNER = st.integers(0, 12)
BOX = st.tuples(CORNER, CORNER, CORNER, CORNER).map(
    lambda c: (min(c[0], c[2]), min(c[1], c[3]), max(c[0], c[2]) + 1, max(c[1], c[3]) + 1)
)


def painted(box):
    pixels = np.zeros((16, 16), bool)
    x1, y1, x2, y2 = box
    pixels[y1:y2, x1:x2] = True
    return pixels


@pytest.mark.slow
@given(st.lists(BOX, max_size=5), st.lists(BOX, max_size=5))
def test_overlap_is_that_of_the_pixels(ones, others):
    iou = box_iou(np.array(ones, float).reshape(-1, 4), np.array(others, float).reshape(-1, 4))
    assert iou.shape == (len(ones), len(others))
    for i, one in enumerate(ones):
        for j, other in enumerate(others):
            both, either = painted(one) & painted(other), painted(one) | painted(other)
            assert iou[i, j] == pytest.approx(both.sum() / either.sum())


def test_areas_and_intersections_of_boxes_that_are_inside_out_are_zero():
    boxes = np.array([[5, 5, 2, 9.0], [0, 0, 4, 4]])
    assert areas(boxes).tolist() == [0, 16]
    assert intersections(boxes, boxes)[0].tolist() == [0, 0]
    assert box_iou(boxes[:1], boxes[:1]).tolist() == [[0.0]]


@pytest.mark.slow
@given(st.lists(st.tuples(BOX, st.integers(0, 9), st.integers(0, 2)), max_size=12))
def test_what_is_kept_does_not_overlap_and_covers_the_rest(rows):
    boxes = np.array([row[0] for row in rows], float).reshape(-1, 4)
    scores = np.array([row[1] for row in rows], float)
    labels = np.array([row[2] for row in rows], np.int32)
    kept = suppress(boxes, scores, 0.4, labels=labels)
    iou = box_iou(boxes, boxes)
    same = labels[:, None] == labels[None]
    assert (np.diff(scores[kept]) <= 0).all()
    for position, index in enumerate(kept):
        assert not ((iou[index] > 0.4) & same[index])[kept[:position]].any()
    for index in set(range(len(rows))) - set(kept.tolist()):
        # Dropped for a kept one that is at least as good.
        rivals = kept[((iou[index] > 0.4) & same[index])[kept]]
        assert len(rivals) and scores[rivals].max() >= scores[index]


def test_limit_keeps_the_best():
    boxes = np.array([[0, 0, 1, 1], [5, 5, 6, 6], [9, 9, 10, 10.0]])
    assert suppress(boxes, np.array([0.1, 0.9, 0.5]), 0.5, limit=2).tolist() == [1, 2]
    assert suppress(np.zeros((0, 4)), np.zeros(0), 0.5).tolist() == []
