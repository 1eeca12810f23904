"""CVAT for video XML 1.1: key frames, outside, interpolation, steps, and hostile files."""

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.formats import read_boxes


def box(frame, x=0.0, outside=0, keyframe=1, extra=""):
    return (
        f'<box frame="{frame}" keyframe="{keyframe}" outside="{outside}" occluded="0" '
        f'xtl="{x}" ytl="10" xbr="{x + 20}" ybr="50" z_order="0">{extra}</box>'
    )


def document(*boxes, size=12, meta="", label="car"):
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<annotations><version>1.1</version>'
        f"<meta><task><size>{size}</size>{meta}<labels><label><name>person</name></label>"
        "<label><name>car</name></label></labels><original_size><width>640</width>"
        "<height>480</height></original_size></task></meta>\n"
        f'<track id="3" label="{label}" source="manual">\n' + "\n".join(boxes) + "\n</track>"
        "</annotations>"
    )


def read(tmp_path, text, **options):
    path = tmp_path / "annotations.xml"
    path.write_text(text)
    return read_boxes(path, **{"frame_rate": 10, **options})


def test_boxes_move_on_straight_lines_between_key_frames_until_outside(tmp_path):
    seen = read(
        tmp_path,
        document(box(1, 0), box(5, 40), box(7, 60, outside=1), box(9, 80), box(10, 0)),
    )
    assert len(seen) == 12
    assert seen.frame_size == (640, 480)
    visible = np.flatnonzero(seen.mask[:, 0])
    assert visible.tolist() == [1, 2, 3, 4, 5, 6, 9, 10]
    np.testing.assert_allclose(seen.boxes[visible, 0, 0], [0, 10, 20, 30, 40, 50, 80, 0])
    assert set(seen.ids[visible, 0]) == {3}
    assert seen.label_names == ("person", "car")
    assert set(seen.labels[visible, 0]) == {1}


def test_boxes_in_between_are_taken_as_they_are(tmp_path):
    """CVAT itself writes interpolated boxes out, with keyframe="0"."""
    seen = read(tmp_path, document(box(0, 0), box(1, 33, keyframe=0), box(2, 20)))
    assert seen.boxes[:3, 0, 0].tolist() == [0, 33, 20]


def test_the_order_of_boxes_in_the_file_does_not_matter(tmp_path):
    seen = read(tmp_path, document(box(4, 40), box(0, 0)))
    assert seen.boxes[:5, 0, 0].tolist() == [0, 10, 20, 30, 40]


def test_a_task_with_every_third_frame(tmp_path):
    meta = "<start_frame>3</start_frame><stop_frame>14</stop_frame>"
    meta += "<frame_filter>step=3</frame_filter>"
    seen = read(tmp_path, document(box(6, 0), box(12, 60), size=4, meta=meta))
    np.testing.assert_allclose(seen.times, [0.3, 0.6, 0.9, 1.2])
    assert seen.mask[:, 0].tolist() == [False, True, True, True]
    assert seen.boxes[1:, 0, 0].tolist() == [0, 30, 60]


def test_scores_and_labels_unknown_to_the_task(tmp_path):
    text = document(box(0, extra='<attribute name="score">0.25</attribute>'), label="bus")
    seen = read(tmp_path, text)
    assert seen.scores[0, 0] == 0.25
    assert seen.label_names == ("person", "car", "bus")
    with pytest.raises(FormatError, match="'bus' is not among"):
        read(tmp_path, text, label_names=("person", "car"))


def test_without_meta_the_boxes_tell_the_length(tmp_path):
    bare = f'<annotations><track id="0" label="car">{box(4)}</track></annotations>'
    assert len(read(tmp_path, bare)) == 5
    assert len(read(tmp_path, bare, times=np.arange(9.0))) == 9


def test_a_video_shorter_than_the_boxes(tmp_path):
    with pytest.raises(FormatError, match="the video has 3 frames"):
        read(tmp_path, document(box(4)), times=np.arange(3.0))


LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><annotations>&i;</annotations>"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (LAUGHS, "line 1: document types and entities are not allowed"),  # a billion laughs
        (
            '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><annotations>&e;</annotations>',
            "not allowed",  # a file of ours in their document
        ),
        ('<!DOCTYPE x SYSTEM "http://example.org/x.dtd"><annotations/>', "not allowed"),
        ("<annotations><track>", "line 1: not XML"),
        ("<annotations>\n\n<track id=1></track></annotations>", "line 3: not XML"),
        ("<annotations>&nbsp;</annotations>", "not XML"),
        ("<a>" * 200 + "</a>" * 200, "too deeply"),
        ("<html/>", "not CVAT for video"),
        ("<annotations><image id='0'/></annotations>", "not CVAT for video"),
        (document(box(0)).replace('label="car"', ""), "line 3: a track needs a label"),
        (document(box(0)).replace('id="3"', 'id="x"'), "whole number as its id"),
        (document(box(0)).replace(' ytl="10"', ""), "line 4: the box lacks 'ytl'"),
        (document(box(0)).replace('xbr="20.0"', 'xbr="-5"'), "positive width"),
        (document(box(0)).replace('ytl="10"', 'ytl="nan"'), "not finite"),
        (document(box(0)).replace('ytl="10"', 'ytl="top"'), "'top' is not a number"),
        (document(box(-1)), "below that of the first"),
        (document(box(99)), "not among the frames of its task"),
        (document(box(10**9), size=10**10), "beyond the limit"),
        (document(box(1), box(1, 5)), "frame 1 twice"),
        (document(box(1), size="many"), "'many' is not a number"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, text)
    assert "annotations.xml" in str(caught.value)
