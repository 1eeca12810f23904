"""States as discrete features, alone and looked at by words."""

import numpy as np
import pytest

from wordsight.meaning.features import FixedBins, register_feature, view_clip
from wordsight.meaning.features import get_feature as feature_of
from wordsight.records import Clip, Detections, FrameDetections
from wordsight.states import StateError, StateSequence, parse_fact
from wordsight.states.rules.facts import state_columns

FACTS = tuple(parse_fact(text) for text in ("attached(hand,red)", "grounded(red)"))
SEQUENCE = StateSequence(
    "film", np.arange(4) / 2, FACTS, np.array([[0, 1], [1, 1], [1, 0], [1, 0]], dtype=bool)
)


def test_columns_follow_the_facts():
    found = state_columns(SEQUENCE)
    assert found.names == ("hand", "red")
    assert found.single["grounded"][:, 1].tolist() == [1, 1, 0, 0]
    assert np.isnan(found.single["grounded"][:, 0]).all()  # nothing is said of the hand
    assert found.pairs["attached"][:, 0, 1].tolist() == [0, 1, 1, 1]
    assert np.isnan(found.pairs["attached"][:, 1, 0]).all()
    assert np.isnan(found.table("contacts", 2)).all()


def test_other_moments_and_unknown_things():
    found = state_columns(SEQUENCE, ["cup", "red", ""], np.array([-1.0, 0.6, 1.99, 2.1]))
    grounded = found.single["grounded"]
    assert np.isnan(grounded[[0, 3], 1]).all()  # before and after the states
    assert grounded[[1, 2], 1].tolist() == [1, 0]
    assert np.isnan(grounded[:, [0, 2]]).all()


def test_what_cannot_be_a_feature_is_refused():
    with pytest.raises(StateError, match="'red'"):
        state_columns(SEQUENCE, ["red", "red"])
    three = StateSequence("film", [0.0], (parse_fact("between(a,b,c)"),), [[True]])
    with pytest.raises(StateError, match="3 arguments"):
        state_columns(three)


def test_words_can_look_at_states():
    frames = [
        FrameDetections(
            t / 2,
            np.array([[0, 0, 9, 9.0], [20, 0, 29, 9.0]]),
            np.ones(2),
            np.array([0, 1]),
            ids=np.array([0, 1]),
        )
        for t in range(4)
    ]
    seen = Detections.from_frames(frames, label_names=["claw", "red"], frame_size=(64, 48))
    renamed = {"hand": "claw"}
    facts = [type(f)(f.predicate, tuple(renamed.get(a, a) for a in f.arguments)) for f in FACTS]
    states = {"film": StateSequence("film", SEQUENCE.times, tuple(facts), SEQUENCE.values)}

    @register_feature("attached-state", 2, FixedBins((0.5,), ("no", "yes")), "")
    def attached(view):
        """Whether the first holds the second."""
        labels = np.array([*view.clip.detections.label_names, ""])
        names = [*labels[view.labels[0, :-1]], ""]  # the last thing is the unseen one
        told = states[view.clip.video_id]
        return state_columns(told, names, view.times).table("attached", 2)

    view = view_clip(Clip("film", 0.0, 2.0, seen), rate=None)
    values = feature_of("attached-state").measure(view)
    assert values.shape == (4, 3, 3)
    assert values[:, 0, 1].tolist() == [0, 1, 1, 1]
