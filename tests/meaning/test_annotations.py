"""Words that somebody else has for things, as features of adjectives."""

from dataclasses import replace

import numpy as np
import pytest

from wordsight.language import PartOfSpeech
from wordsight.meaning import MeaningError
from wordsight.meaning.features import (
    AnnotatedClip,
    get_feature,
    get_feature_set,
    name_feature,
    taught_meaning,
    view_clip,
    with_names,
)
from wordsight.records import Detections

GROUPS = (("blue", "red"), ("tall", "wide"))


def clip(named):
    """Two things that stay where they are for four frames."""
    times, shape = np.arange(4) / 4, (4, 2)
    boxes = np.broadcast_to([[0, 0, 9, 9], [20, 0, 29, 9]], (*shape, 4)).astype(float)
    seen = Detections(
        times, boxes, np.ones(shape), np.zeros(shape, int), np.ones(shape, bool), ("x",), (64, 48)
    )
    return AnnotatedClip("v", 0.0, 1.0, seen, GROUPS, named)


def test_names_are_read_from_the_clip():
    named = np.full((2, 4, 2), -1)
    named[0, :, 0], named[1, 2, 1] = 1, 0
    view = view_clip(clip(named), rate=None)
    colours = get_feature(name_feature(GROUPS[0])).measure(view)[:, :2]
    assert sorted(np.isnan(colours).sum(axis=0)) == [0, 4]
    assert (colours[np.isfinite(colours)] == 1).all()
    shapes = get_feature(name_feature(GROUPS[1])).measure(view)
    assert np.isfinite(shapes).sum() == 1 and np.nansum(shapes) == 0
    # Words nobody has for this clip, and a clip nobody has named.
    assert np.isnan(get_feature(name_feature(["a", "b"])).measure(view)).all()
    plain = AnnotatedClip("v", 0.0, 1.0, view.clip.detections)
    assert np.isnan(get_feature(name_feature(GROUPS[0])).measure(view_clip(plain, rate=None))).all()


def test_a_part_of_a_clip_keeps_names_and_facts():
    named = np.arange(16).reshape(2, 4, 2) % 2
    facts = {"held": np.arange(8).reshape(4, 2).astype(np.int8) % 2}
    whole = replace(clip(named), facts=facts)
    part = whole.part(0.25, 0.75)
    assert (part.start, part.end, part.times.tolist()) == (0.25, 0.75, [0.25, 0.5])
    assert np.array_equal(part.named, named[:, 1:3])
    assert np.array_equal(part.facts["held"], facts["held"][1:3])
    assert AnnotatedClip("v", 0.0, 1.0, whole.detections).part(0.5, 1.0).groups == ()


def test_the_feature_says_its_words():
    found = get_feature(name_feature(["blue", "red"]))
    assert found.scheme.learn(np.zeros(0)).names == ("blue", "red")
    assert found.arity == 1 and "red" in found.about
    wider = with_names(get_feature_set("recommended"), GROUPS)
    assert wider.parts[PartOfSpeech.ADJECTIVE].single[-2:] == ("told:blue|red", "told:tall|wide")
    assert wider.parts[PartOfSpeech.VERB] == get_feature_set("recommended").parts[PartOfSpeech.VERB]
    assert get_feature_set(wider) is wider
    # Nouns that were taught look at the words of their attribute, and begin with what was taught.
    assert wider.parts[PartOfSpeech.NOUN].single == ("label",)
    nouns = with_names(get_feature_set("recommended"), GROUPS, ["tall", "person"])
    assert nouns.parts[PartOfSpeech.NOUN].single == ("label", "told:tall|wide")
    assert taught_meaning("told:tall|wide", "wide") == pytest.approx([0.05, 0.95])
    assert taught_meaning("told:tall|wide", "red") is taught_meaning("speed", "red") is None


@pytest.mark.parametrize("words", [["a", "a"], ["a|b"], [""]])
def test_words_that_cannot_be_told_apart_are_refused(words):
    with pytest.raises(MeaningError, match="must differ"):
        name_feature(words)


def test_names_of_the_wrong_shape_are_refused():
    with pytest.raises(MeaningError, match="shape"):
        clip(np.zeros((1, 4, 2), int))
