"""Facts that somebody else knows of things, as features of verbs, adjectives and prepositions."""

import numpy as np
import pytest

from wordsight.language import PartOfSpeech
from wordsight.meaning import MeaningError
from wordsight.meaning.features import (
    AnnotatedClip,
    fact_features,
    get_feature,
    get_feature_set,
    view_clip,
)
from wordsight.meaning.features import with_facts as widened
from wordsight.records import Detections

PREDICATES = {"open": 1, "on": 2}


def clip(**facts):
    """A hand, which is no thing of its own, and two things, in four frames."""
    times, shape = np.arange(4) / 4, (4, 3)
    boxes = np.broadcast_to([[0, 0, 9, 9], [20, 0, 29, 9], [40, 0, 49, 9]], (*shape, 4))
    labels = np.broadcast_to([0, 1, 2], shape)
    seen = Detections(
        times,
        boxes.astype(float),
        np.ones(shape),
        labels,
        np.ones(shape, bool),
        ("hand", "cup", "box"),
        (64, 48),
        ids=labels,
    )
    return AnnotatedClip("v", 0.0, 1.0, seen, facts=facts)


def measured(name, **facts):
    view = view_clip(clip(**facts), rate=None)
    return get_feature(name).measure(view)[
        ..., : view.present.shape[1] - 1
    ]  # without the unseen one


def on():
    """The hand is on the cup in the second frame, the box on the cup in the third."""
    table = np.zeros((4, 3, 3), np.int8)
    table[1, 0, 1], table[2, 2, 1] = 1, 1
    table[3] = -1  # nobody knows
    return table


@pytest.mark.parametrize(
    ("name", "holds"),
    [
        ("fact:on(1,2)", [(2, 1, 0)]),  # box on cup; of the hand no word speaks
        ("fact:on(2,1)", [(2, 0, 1)]),  # the same from the other side
        ("fact:on(1,_)", [(2, 1)]),  # who is on something
        ("fact:on(_,1)", [(1, 0), (2, 0)]),  # on whom something is, the hand included
    ],
)
def test_facts_are_read_from_the_clip(name, holds):
    values = measured(name, on=on())
    assert sorted(zip(*np.nonzero(values[:3, :2] == 1), strict=True)) == holds
    assert np.isnan(values[3]).all()
    assert get_feature(name).arity == values.ndim - 1


def test_facts_of_one_thing_and_facts_nobody_has():
    open_ = np.zeros((4, 3), np.int8)
    open_[2:, 1] = 1
    assert measured("fact:open(1)", open=open_)[:, 0].tolist() == [0, 0, 1, 1]
    assert np.isnan(measured("fact:open(1)")).all()
    assert np.isnan(measured("fact:open(1)", open=on())).all()  # another predicate of that name


def test_which_words_look_at_them():
    parts = widened(get_feature_set("recommended"), PREDICATES).parts
    single, pairs = fact_features(PREDICATES)
    assert single == ("fact:open(1)", "fact:on(1,_)", "fact:on(_,1)")
    assert pairs == ("fact:on(1,2)", "fact:on(2,1)")
    assert parts[PartOfSpeech.VERB].single[-3:] == single
    assert parts[PartOfSpeech.VERB].pairs[-2:] == pairs
    assert parts[PartOfSpeech.ADJECTIVE].single[-1] == "fact:open(1)"
    assert parts[PartOfSpeech.SPATIAL_PREPOSITION].pairs[-2:] == pairs
    assert parts[PartOfSpeech.NOUN] == get_feature_set("recommended").parts[PartOfSpeech.NOUN]


@pytest.mark.parametrize("predicates", [{"between": 3}, {"rains": 0}, {"a|b": 1}])
def test_facts_that_words_cannot_look_at_are_refused(predicates):
    with pytest.raises(MeaningError, match="one object or of two"):
        fact_features(predicates)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(MeaningError, match="asks for no fact"):
        get_feature("fact:on(3)")
    with pytest.raises(MeaningError, match="shape"):
        clip(on=np.zeros((4, 2), np.int8))
