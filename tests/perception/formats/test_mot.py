"""MOT text as it is found in the wild."""

import numpy as np
import pytest

from wordsight.errors import FormatError
from wordsight.perception.formats import read_boxes


def read(tmp_path, text, name="det.txt", **options):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return read_boxes(path, **{"frame_rate": 10, **options})


def test_frames_and_pixels_are_counted_from_one(tmp_path):
    seen = read(tmp_path, "1,-1,1,1,10,20,0.5,-1,-1,-1\n3,7,11.5,21,10,20,0.9,-1,-1,-1\n")
    np.testing.assert_allclose(seen.times, [0, 0.1, 0.2])
    assert seen.mask.sum(axis=1).tolist() == [1, 0, 1]  # the empty frame is kept
    np.testing.assert_array_equal(seen.boxes[0, 0], [0, 0, 10, 20])
    np.testing.assert_array_equal(seen.boxes[2, 0], [10.5, 20, 20.5, 40])
    assert seen.ids[:, 0].tolist() == [-1, -1, 7]
    assert seen.label_names == ("object",)


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("1,1,5,5,10,20,1", "object"),  # no class
        ("1,1,5,5,10,20,1,3", "car"),  # eight columns: a class
        ("1,1,5,5,10,20,1,1,0.75", "pedestrian"),  # nine: class and visibility
        ("1,1,5,5,10,20,1,-1,-1", "object"),  # nine without a class
        ("1,1,5,5,10,20,1,4.4852,5.5016,0", "object"),  # ten: a place in the world
        ("1 1 5 5 10 20 1 -1 -1 -1", "object"),  # blanks between
        ("1,1,5,5,10,20,1,-1,-1,-1,", "object"),  # a comma at the end
        ("1.0,1.0,5,5,10,20,1,-1,-1,-1", "object"),  # whole numbers as floats
        ("\ufeff1, 1, 5, 5, 10, 20, 1, -1, -1, -1", "object"),  # a byte order mark and blanks
    ],
)
def test_known_variants(tmp_path, line, label):
    seen = read(tmp_path, line)
    np.testing.assert_array_equal(seen.boxes[0, 0], [4, 4, 14, 24])
    assert seen.label_names[seen.labels[0, 0]] == label


def test_classes_get_the_names_given(tmp_path):
    seen = read(tmp_path, "1,1,5,5,10,20,1,2,1\n", label_names=("cup", "bowl"))
    assert seen.label_names == ("cup", "bowl")
    assert seen.labels[0, 0] == 1


def test_seqinfo_tells_rate_length_and_size(tmp_path):
    (tmp_path / "SEQ" / "det").mkdir(parents=True)
    (tmp_path / "SEQ" / "seqinfo.ini").write_text(
        "[Sequence]\nname=SEQ\nframeRate=14\nseqLength=5\nimWidth=640\nimHeight=480\n"
    )
    seen = read(tmp_path, "2,-1,5,5,10,20,1,-1,-1,-1\n", "SEQ/det/det.txt", frame_rate=None)
    assert len(seen) == 5
    assert seen.frame_size == (640, 480)
    assert seen.times[1] == pytest.approx(1 / 14)


def test_a_broken_seqinfo_is_named(tmp_path):
    (tmp_path / "seqinfo.ini").write_text("[Sequence]\nframeRate=fast\n")
    with pytest.raises(FormatError, match=r"seqinfo\.ini"):
        read(tmp_path, "1,-1,5,5,10,20,1,-1,-1,-1\n")


def test_boxes_beyond_the_length_in_seqinfo(tmp_path):
    (tmp_path / "seqinfo.ini").write_text("[Sequence]\nframeRate=25\nseqLength=5\n")
    with pytest.raises(FormatError, match="frame 6"):
        read(tmp_path, "6,-1,5,5,10,20,1,-1,-1,-1\n")


GOOD = "1,-1,5,5,10,20,1,-1,-1,-1\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0,-1,5,5,10,20,1,-1,-1,-1", "counted from 1"),  # frame 0
        ("-3,-1,5,5,10,20,1,-1,-1,-1", "counted from 1"),
        ("1.5,-1,5,5,10,20,1,-1,-1,-1", "whole number"),
        ("99999999999,-1,5,5,10,20,1,-1,-1,-1", "beyond the limit"),
        ("1,-1,nan,5,10,20,1,-1,-1,-1", "nan"),
        ("1,-1,5,5,inf,20,1,-1,-1,-1", "inf"),
        ("1,-1,5,5,10,20,NaN,-1,-1,-1", "NaN"),
        ("1,-1,5,5,-10,20,1,-1,-1,-1", "positive width"),
        ("1,-1,5,5,10,0,1,-1,-1,-1", "positive width"),
        ("1,-1,1e300,5,10,20,1,-1,-1,-1", "outside any frame"),
        ("1,-1,1e999999999,5,10,20,1,-1,-1,-1", "not a usable number"),
        ("1,-1,5,5,1e-30,20,1,-1,-1,-1", "positive width"),  # vanishes beside the corner
        ("1,-1,5,5,10,20", "7 to 10 columns"),
        ("1,-1,5,5,10,20,1,-1,-1,-1,-1", "7 to 10 columns"),
        ("1,-1,left,5,10,20,1,-1,-1,-1", "'left' is not a number"),
        ("1,-1,1_0,5,10,20,1,-1,-1,-1", "not a number"),
        ("1,99999999999999999999999,5,5,10,20,1,-1,-1,-1", "too large"),
        ("1,-1,5,5,10,20,1,77,1", "class 77"),
    ],
)
def test_bad_lines_are_named_with_their_number(tmp_path, line, message):
    with pytest.raises(FormatError, match=message) as caught:
        read(tmp_path, f"{GOOD}\n{line}\n")
    assert "det.txt, line 3" in str(caught.value)


def test_an_empty_file_has_no_boxes(tmp_path):
    assert len(read(tmp_path, "")) == 0
    assert read(tmp_path, "", times=[0.0, 0.5]).mask.shape == (2, 0)


def test_real_ground_truth(shared_data):
    folder = shared_data("mot15_gt", "motmetrics", "data")
    seen = read_boxes(folder / "TUD-Campus" / "gt.txt", frame_rate=25)
    assert seen.mask.sum() == 359
    assert len(np.unique(seen.ids[seen.mask])) == 8
    np.testing.assert_array_equal(seen.boxes[0, 0], [398, 181, 519, 410])
    assert read_boxes(folder / "TUD-Stadtmitte" / "gt.txt", frame_rate=25).mask.sum() == 1156
