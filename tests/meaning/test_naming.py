"""Nouns that a detector has a class for."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from wordsight.meaning import ON_FILM, MeaningWarning, WordLearner
from wordsight.meaning.features import view_clip
from wordsight.meaning.training.naming import class_of, contrasted_labels, noun_labels
from wordsight.records import Clip, Detections

COCO = (
    *("person", "bear", "teddy bear", "dining table", "tv"),
    "cell phone",
    "couch",
    "bottle",
    "book",
)


@pytest.mark.parametrize(
    ("noun", "name"),
    [
        ("table", "dining table"),
        ("tables", "dining table"),
        ("bear", "bear"),
        ("teddy-bear", "teddy bear"),
        ("phone", "cell phone"),
        ("women", "person"),
        ("hand", "person"),
        ("sofa", "couch"),
        ("bottle-cap", "bottle"),
        ("bottle-opener", None),
        ("crate", None),
    ],
)
def test_a_noun_names_a_class(noun, name):
    assert class_of(noun, COCO) == name


def test_a_class_of_its_own_comes_before_what_it_is_part_of():
    assert class_of("hand", (*COCO, "hand")) == "hand"


def scene(things, video="film", frames=12):
    """A clip of things, each a label, a left edge and a step to the right per frame."""
    names = tuple(dict.fromkeys((*COCO, *(label for label, *_ in things))))
    count = len(things)
    lefts = np.array([[x + step * t for _, x, step in things] for t in range(frames)], dtype=float)
    boxes = np.stack(
        [lefts, np.full_like(lefts, 50), lefts + 40, np.full_like(lefts, 130)], axis=-1
    )
    labels = np.tile([names.index(label) for label, *_ in things], (frames, 1))
    seen = Detections(
        times=np.arange(frames) / 6,
        boxes=boxes,
        scores=np.full((frames, count), 0.9),
        labels=labels,
        mask=np.ones((frames, count), dtype=bool),
        label_names=names,
        frame_size=(640, 360),
        ids=np.tile(np.arange(count), (frames, 1)),
    )
    return Clip(video, 0.0, frames / 6, seen)


def test_classes_that_share_boxes_stand_for_the_noun():
    views = [view_clip(scene([("bottle", 100, 0), ("tv", 102, 0), ("person", 400, 0)]))]
    labels = ("bottle", "person", "tv")
    found = noun_labels(["bottle", "crate", "table"], views, labels)
    assert {name: mask.tolist() for name, mask in found.items()} == {"bottle": [True, False, True]}


def test_a_noun_without_a_class_is_not_what_is_named_beside_it():
    things = [("bottle", 100, 0), ("book", 200, 0), ("person", 400, 0)]
    views = [view_clip(scene(things, f"film{n}")) for n in (0, 0, 1, 2)]
    said = [{"person", "bottle"}, {"person", "cereal"}, {"cereal", "bottle"}, {"crate", "book"}]
    labels = ("book", "bottle", "person")
    found = contrasted_labels(["person", "bottle", "cereal", "crate", "book"], views, said, labels)
    # Of both films of cereal bottles are spoken of, too, but people only of one of them.
    assert {noun: may.tolist() for noun, may in found.items()} == {
        "cereal": [True, False, True],
        "crate": [False, True, True],
    }


def test_cereal_is_the_box_although_milk_is_always_beside_it():
    """Milk is seen with nothing else, and boxes with much: by frequency cereal would be milk."""
    rest = ("person", 400, 0)
    clips, sentences = [], []
    for n in range(4):
        for moving, noun in (("bottle", "bottle"), ("book", "cereal")):
            steps = {"bottle": 0, "book": 0} | {moving: 8}
            clips.append(scene([*((k, 100, v) for k, v in steps.items()), rest], f"meal{n}"))
            sentences.append(f"The person moved the {noun}.")
        clips.append(scene([("book", 100, 0), rest], f"shelf{n}"))
        sentences.append("The person stood.")
    learner = WordLearner(
        ON_FILM, restarts=1, tempered_iterations=3, iterations=3, discriminative=None
    )
    lexicon = learner.fit(clips, sentences).lexicon_
    names = lexicon.vocabulary.labels
    label = dict(zip(names, lexicon["cereal"].emission("label")[0], strict=True))
    assert label["book"] > 0.9


def test_a_noun_is_what_the_detector_calls_so_not_what_is_always_there():
    going = [scene([("person", 100, s), ("tv", 500, 0)], f"go{s}") for s in range(8, 14)]
    still = [scene([("person", 90 + s, 0), ("tv", 500, 0)], f"stay{s}") for s in range(6)]
    other = [scene([("bottle", 300, 0), ("dining table", 200, 0)], f"rest{s}") for s in range(4)]
    sentences = ["The person left the table."] * 6 + ["The person stood beside the table."] * 6
    sentences += ["The bottle rested."] * 4
    learner = WordLearner(
        ON_FILM, restarts=1, tempered_iterations=3, iterations=3, discriminative=None
    )
    with pytest.warns(MeaningWarning, match="sees no table in 12 of 12 clips"):
        learner.fit([*going, *still, *other], sentences)
    lexicon = learner.lexicon_
    label = dict(zip(lexicon.vocabulary.labels, lexicon["table"].emission("label")[0], strict=True))
    assert label["dining table"] > 0.99 and label["tv"] < 1e-6
    for history in learner.histories_:
        assert all(b >= a - 1e-6 for a, b in pairwise(history[:3]))
    tracked = lexicon.track(going[0], "The person left the table.")
    assert [len(track) > 0 for track in tracked.tracks] == [True, False]
    assert lexicon.choose(going[0], sentences[5:7]) == 0
    assert lexicon.choose(still[0], sentences[5:7]) == 1


def test_labels_that_change_along_a_track_are_one_thing():
    clip = scene([("bottle", 100, 0), ("person", 400, 0)])
    labels = clip.labels.copy()
    labels[:7, 0] = COCO.index("cell phone")
    views = [view_clip(replace(clip, detections=clip.detections.relabelled(labels, COCO)))]
    found = noun_labels(["bottle", "person"], views, ("bottle", "cell phone", "person"))
    assert found["bottle"].tolist() == [True, True, False]
    assert found["person"].tolist() == [False, False, True]


def test_hands_are_things_where_sentences_speak_of_them():
    lifting = [scene([("bottle", 100, s), ("hand", 90, s)], f"up{s}") for s in (6, 7, 8)]
    resting = [scene([("bottle", 100 + s, 0), ("hand", 90 + s, 0)], f"at{s}") for s in (1, 2, 3)]
    sentences = ["The hand moved the bottle."] * 3 + ["The hand held the bottle."] * 3
    learner = WordLearner(
        ON_FILM, restarts=1, tempered_iterations=2, iterations=2, discriminative=None
    )
    lexicon = learner.fit([*lifting, *resting], sentences).lexicon_
    tracked = lexicon.track(lifting[0], sentences[0])
    assert [track.label for track in tracked.tracks] == ["hand", "bottle"]
    assert [track.boxes[0, 0] for track in tracked.tracks] == [90, 100]
