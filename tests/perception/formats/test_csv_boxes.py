"""CSV with all and with few columns."""

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.formats import read_boxes

HEADER = "frame,time,id,label,score,x1,y1,x2,y2\n"


def read(tmp_path, text, **options):
    path = tmp_path / "boxes.csv"
    path.write_text(text)
    return read_boxes(path, **options)


def test_a_full_file(tmp_path):
    text = HEADER + "0,0.5,3,cup,0.9,1,2,3,4\n0,0.5,,bowl,0.8,5,6,7,8\n4,0.75,,,,,,,\n"
    seen = read(tmp_path, text)
    assert seen.times.tolist() == [0.5, 0.75]  # exactly the frames listed
    assert seen.mask.tolist() == [[True, True], [False, False]]
    assert seen.ids[0].tolist() == [3, -1]
    assert seen.label_names == ("cup", "bowl")
    assert seen.boxes[0].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert seen.frame_size == (7, 8)  # the smallest that holds the boxes


def test_only_what_is_needed_in_any_order(tmp_path):
    text = "X1, Y1 ,x2,y2,Frame,remark\n1,2,3,4,2,nice\n"
    seen = read(tmp_path, text, frame_rate=10)
    np.testing.assert_allclose(seen.times, [0.0, 0.1, 0.2])
    assert seen.scores[2, 0] == 1.0
    assert seen.label_names == ("object",)
    assert seen.ids is None


def test_times_may_be_empty_everywhere(tmp_path):
    text = HEADER + "0,,,cup,0.9,1,2,3,4\n3,,,cup,0.9,1,2,3,4\n"
    seen = read(tmp_path, text, times=[0.0, 0.1, 0.2, 0.3])
    assert seen.times.tolist() == [0.0, 0.1, 0.2, 0.3]  # as without the column
    with pytest.raises(FormatError, match="frame 3 has no time, but others do"):
        read(tmp_path, text.replace("0,,", "0,0.5,", 1))


def test_times_of_the_video_come_before_those_of_the_file(tmp_path):
    seen = read(tmp_path, HEADER + "1,0.5,3,cup,0.9,1,2,3,4\n", times=[7.0, 8.0, 9.0])
    assert seen.times.tolist() == [8.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected a header"),
        ("frame,x1,y1\n1,2,3\n", "x2, y2 missing"),
        ("frame,frame,x1,y1,x2,y2\n", "repeated"),
        (HEADER + "0,0,1,cup,1,1,2,3\n", "line 2: the number of columns"),
        (HEADER + "0,0,1,cup,1,1,2,3,4,5\n", "line 2: the number of columns"),
        (HEADER + "0,0,1,cup,1,1,2,3,nan\n", "line 2: the box"),
        (HEADER + "0,0,1,cup,1,1,2,3,\n", "'' is not a number"),
        (HEADER + "0,0,1,cup,1,3,2,1,4\n", "positive width"),
        (HEADER + "-1,0,1,cup,1,1,2,3,4\n", "below that of the first"),
        (HEADER + "0.5,0,1,cup,1,1,2,3,4\n", "whole number"),
        (HEADER + "9999999999,0,1,cup,1,1,2,3,4\n", "beyond the limit"),
        (HEADER + "0,soon,1,cup,1,1,2,3,4\n", "'soon' is not a number"),
        (HEADER + "0,inf,1,cup,1,1,2,3,4\n", "time must be finite"),
        (HEADER + "0,0,1,cup,1,1,2,3,4\n0,9,1,cup,1,1,2,3,4\n", "line 3: frame 0 has the time"),
        (HEADER + "0,5,1,cup,1,1,2,3,4\n1,2,1,cup,1,1,2,3,4\n", "times must rise"),
        (HEADER + '0,0,1,"cup,1,1,2,3,4\n', "quotation mark"),
        ("frame,x1,y1,x2,y2\n5,1,2,3,4\n", "the video's times"),
    ],
)
def test_bad_files(tmp_path, text, message):
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, text)
    assert "boxes.csv" in str(caught.value)
