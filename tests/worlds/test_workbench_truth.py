"""The truth of the workbench, held against geometry and against the text."""

from functools import lru_cache
from itertools import groupby, pairwise

import numpy as np
import pytest

from wordsight.worlds import workbench

# Things that are named but need not be touched: what something is set on or taken off, and what
# a spoon is emptied into.
UNTOUCHED = {"stirrer", "scale", "rack", "flask"}
UNTOUCHED_BY_SPOON = {"dish", "beaker"}


@lru_cache(maxsize=1)
def films():
    return tuple(workbench(films=2, steps=10, random_state=5, noise=0.0, pace=2.0))


@lru_cache(maxsize=1)
def clumsy():
    options = {"skip": 0.3, "repeat": 0.3, "swap": 0.4, "stray": 0.5}
    return next(workbench(films=1, steps=12, random_state=2, noise=0.0, pace=3.0, **options))


def every_touch():
    for film in films():
        for touch in film.truth.record()["touches"]:
            yield film, touch, slice(touch["frames"][0], touch["frames"][1] + 1)


@pytest.mark.slow
def test_a_hand_overlaps_what_it_touches():
    for film, touch, span in every_touch():
        hand, thing = film.truth.boxes[touch["hand"]][span], film.truth.boxes[touch["thing"]][span]
        seen = ~(np.isnan(hand[:, 0]) | np.isnan(thing[:, 0]))
        low = np.maximum(hand[seen, :2], thing[seen, :2])
        high = np.minimum(hand[seen, 2:], thing[seen, 2:])
        assert np.all(high > low), (film.name, touch)


@pytest.mark.slow
def test_what_moves_is_touched_or_stands_on_something_touched():
    for film in films():
        touched = {name: np.zeros(film.num_frames, bool) for name in film.truth.boxes}
        for touch in film.truth.record()["touches"]:
            touched[touch["thing"]][touch["frames"][0] : touch["frames"][1] + 1] = True
        for name in film.truth.recording.things:
            moves = np.nanmax(np.abs(np.diff(film.truth.boxes[name], axis=0)), axis=1) > 0.01
            alone = moves & ~(touched[name][1:] | touched[name][:-1])
            assert not alone.any(), (film.name, name)


def test_what_is_carried_moves_with_the_hand():
    for film in films():
        recording = film.truth.recording
        for number in (0, 1):
            poses = [frame[number] for frame in recording.poses]
            for held, group in groupby(range(len(poses)), key=lambda k: _held(poses, k)):
                span = list(group)
                if held is None or len(span) < 4:
                    continue
                thing = recording.things.index(held)
                hand = np.array([(poses[k].x, poses[k].depth) for k in span])
                origin = recording.places[thing, span]
                assert np.allclose(hand[:, 1], origin[:, 1])
                assert np.abs(hand[:, 0] - origin[:, 0]).max() < 0.16


def _held(poses, k):
    return poses[k].touching if poses[k].holding else None


def test_each_sentence_is_carried_out_with_the_things_it_names():
    for film in films():
        truth = film.truth
        sentences = truth.recording.protocol.sentences
        for moment in truth.recording.moments:
            frames = range(moment.first, moment.last + 1)
            touched = {thing for k in frames for thing in truth.touched(k).values()}
            named = set(sentences[moment.sentence].named())
            assert touched, sentences[moment.sentence].text
            spared = UNTOUCHED | (UNTOUCHED_BY_SPOON if "spoon" in named else set())
            assert named - touched <= spared, sentences[moment.sentence].text
            assert named & touched, sentences[moment.sentence].text


def test_steps_follow_the_text_when_nothing_goes_wrong():
    for film in films():
        record = film.truth.record()
        assert record["order"] == list(range(1, 11))
        assert [m["sentence"] for m in record["moments"]] == list(range(len(film.sentences)))
        for one, other in pairwise(record["moments"]):
            assert one["frames"][1] < other["frames"][0]
            assert one["step"] <= other["step"]


@pytest.mark.slow
def test_moments_and_frames_tell_the_same():
    for film in (*films(), clumsy()):
        truth, record = film.truth, film.truth.record()
        for moment in record["moments"]:
            first, last = moment["frames"]
            assert np.all(truth.steps[first : last + 1] == moment["step"])
            assert np.all(truth.sentences[first : last + 1] == moment["sentence"])
            assert moment["start"] == pytest.approx(first / film.frame_rate, abs=1e-3)
        assert ((truth.steps == 0) == (truth.sentences == -1)).all()
        idle = (truth.steps == 0).mean()
        assert 0.05 < idle < 0.6, f"{film.name} is idle for {idle:.0%}"


def test_mistakes_are_told_and_performed():
    record = clumsy().truth.record()
    assert record["skipped"]
    assert record["repeated"]
    assert record["swapped"]
    performed = [moment["step"] for moment in record["moments"]]
    assert not set(performed) & set(record["skipped"])
    assert set(performed) == set(record["order"])
    counts = {len(step["sentences"]) for step in record["steps"]}
    assert counts <= {1, 2, 3, 4}
    for step in record["repeated"]:
        sentences = len(record["steps"][step - 1]["sentences"])
        assert performed.count(step) == 2 * sentences
    for one, other in record["swapped"]:
        assert performed.index(other) < performed.index(one)


def test_hands_touch_other_things_now_and_then_between_sentences():
    film = clumsy()
    between = [
        touch
        for touch in film.truth.record()["touches"]
        if film.truth.steps[touch["frames"][0]] == 0
    ]
    assert between


def test_truth_tells_every_frame_of_every_thing():
    for film in films():
        record = film.record()
        for boxes in record["boxes"].values():
            assert len(boxes) == film.num_frames
        assert {"left_hand", "right_hand"} < set(record["boxes"])
        things = film.truth.recording.things
        assert set(record["boxes"]) == {"left_hand", "right_hand", *things}
