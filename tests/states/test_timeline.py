"""The timeline is drawn, also of nothing, and never over another file unasked."""

import numpy as np
import pytest

from wordsight.states import StateSequence, draw_timeline, find_events, parse_fact
from wordsight.video import read_image

FACTS = tuple(parse_fact(text) for text in ("attached(h,a)", "contacts(b,a)"))
SEQUENCE = StateSequence(
    "film", np.arange(4.0), FACTS, np.array([[0, 1], [1, 1], [1, 0], [1, 0]], dtype=bool)
)
NOTHING = StateSequence("film", np.arange(3.0), (), np.zeros((3, 0), bool))


def painted(path, *colour):
    return int((read_image(path) == colour).all(axis=-1).sum())


@pytest.mark.slow
def test_bars_of_facts_and_brackets_of_events(tmp_path):
    draw_timeline(tmp_path / "plain.png", SEQUENCE)
    draw_timeline(
        tmp_path / "full.png", SEQUENCE, events=find_events(SEQUENCE), truth=SEQUENCE, heading="x"
    )
    plain, full = tmp_path / "plain.png", tmp_path / "full.png"
    held, resting = painted(plain, 0, 114, 178), painted(plain, 213, 94, 0)
    assert held == pytest.approx(1.5 * resting, rel=0.05)  # three seconds and two
    assert painted(full, 221, 221, 221) > 1000 > painted(plain, 221, 221, 221)  # under the event
    assert read_image(full).shape[0] > read_image(plain).shape[0]


def test_nothing_can_be_drawn_and_files_are_kept(tmp_path):
    draw_timeline(tmp_path / "a.svg", NOTHING)
    assert "</svg>" in (tmp_path / "a.svg").read_text()
    with pytest.raises(FileExistsError):
        draw_timeline(tmp_path / "a.svg", SEQUENCE)
    draw_timeline(tmp_path / "a.svg", SEQUENCE, overwrite=True)
