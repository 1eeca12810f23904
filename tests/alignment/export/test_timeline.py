"""The picture of an alignment shows every line, whatever it holds."""

import cv2
import numpy as np
import pytest

from tests.alignment.builders import TEA, tea_alignment
from wordsight.alignment.export.timeline import draw_timeline
from wordsight.errors import WordsightError


@pytest.mark.slow
def test_a_timeline_is_drawn_and_is_the_same_every_time(tmp_path):
    for name in ("one.png", "other.png"):
        draw_timeline(tmp_path / name, tea_alignment(), TEA)
    image = cv2.imread(str(tmp_path / "one.png"))
    assert image.shape[1] > 1000
    assert len(np.unique(image)) > 50
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "other.png").read_bytes()


def test_a_video_in_which_nothing_was_seen(tmp_path):
    empty = tea_alignment(
        times=np.zeros((0, 2)), posterior=np.zeros((0, 4)), best=np.zeros(0, int), spans=()
    )
    draw_timeline(tmp_path / "out.png", empty, TEA)
    assert (tmp_path / "out.png").stat().st_size


@pytest.mark.parametrize("name", ["out.jpg", "out"])
def test_other_endings_are_refused(tmp_path, name):
    with pytest.raises(WordsightError, match="png"):
        draw_timeline(tmp_path / name, tea_alignment(), TEA)


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / "out.png").write_text("mine")
    with pytest.raises(WordsightError, match="exists"):
        draw_timeline(tmp_path / "out.png", tea_alignment(), TEA)
    assert (tmp_path / "out.png").read_text() == "mine"
