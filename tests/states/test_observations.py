import numpy as np
import pytest

from wordsight.records import Clip, Detections
from wordsight.states import (
    StateError,
    StateObservations,
    StateVocabulary,
    TrackedObject,
    TrackSmoothing,
    parse_vocabulary,
)

TIMES = np.arange(60) / 30
STILL = np.array([100.0, 100, 120, 130])


def two_things(shift=3.0, **options):
    """One thing rests; the other moves to the right by some pixels a frame from frame 20 on."""
    boxes = np.zeros((60, 2, 4)) + STILL
    boxes[:, 1, [0, 2]] += 60
    boxes[20:, 1, [0, 2]] += shift * np.arange(40)[:, None]
    return StateObservations.from_boxes(
        "v", TIMES, [TrackedObject("a"), TrackedObject("b")], boxes, **options
    )


def test_features_of_known_motion():
    found = two_things().features
    assert found["speed"][40].tolist() == pytest.approx([0, 90])
    assert found["direction"][40, 1] == pytest.approx(0)
    assert np.isnan(found["direction"][40, 0])  # what rests heads nowhere
    assert found["travel"][59].tolist() == pytest.approx([0, 90])
    assert found["distance"][0, 0, 1] == pytest.approx(40)
    assert found["distance_change"][40, 0, 1] == pytest.approx(90)
    assert found["compass"][0, 0, 1] == pytest.approx(0)
    assert found["compass"][0, 1, 0] == pytest.approx(180)
    assert found["relative_speed"][40, 0, 1] == pytest.approx(90)
    assert found["speed_rank"][40].tolist() == [1, 0]
    assert found["still"][12, 1] == pytest.approx(12 / 30) and found["still"][30, 1] == 0
    assert found["still_next"][10, 1] == pytest.approx((18 - 10) / 30, abs=2 / 30)
    assert found["away"][59, 1] == pytest.approx(117)


def test_rest_is_counted_from_the_first_to_the_last_sight():
    boxes = np.tile([10.0, 10.0, 30.0, 30.0], (60, 1, 1))
    boxes[:20], boxes[50:] = np.nan, np.nan
    seen = StateObservations.from_boxes("v", TIMES, [TrackedObject("a")], boxes).features
    assert seen["still"][[20, 45], 0].tolist() == pytest.approx([0, 25 / 30])
    assert seen["still_next"][[20, 49], 0].tolist() == pytest.approx([29 / 30, 0])
    assert np.isnan(seen["still"][[5, 55], 0]).all()


def test_every_declared_feature_is_measured_and_no_other():
    declared = {feature.name for feature in StateVocabulary().features}
    assert set(two_things().features) == declared
    causal = {feature.name for feature in StateVocabulary().causal().features}
    assert set(two_things(causal=True).features) == causal


def test_causal_features_do_not_change_with_the_future():
    random = np.random.default_rng(0)
    places = np.cumsum(random.normal(0, 3, (60, 3, 2)), axis=0) + 200
    boxes = np.concatenate([places - 10, places + 12], axis=-1)
    boxes[30:34, 1] = np.nan  # lost for a while
    things = [TrackedObject("a"), TrackedObject("b"), TrackedObject("c", "hand")]
    whole = StateObservations.from_boxes("v", TIMES, things, boxes, causal=True)
    part = StateObservations.from_boxes("v", TIMES[:40], things, boxes[:40], causal=True)
    for name, values in part.features.items():
        # the first resting place is known from the fifth frame on
        np.testing.assert_allclose(values[5:], whole.features[name][5:40], err_msg=name)


def test_declared_features():
    vocabulary = parse_vocabulary(
        """
        # motion that lasts
        predicate attached(hand, thing)
        feature calm(thing) = mean of speed over 0.5 s
        feature nearest(thing) = least of distance
        feature farthest(thing) = greatest of distance
        feature lift(thing) = change of elevation over 0.2 s
        feature calm_rank(thing) = rank of calm
        feature later(thing) = coming change of away over 0.2 s
        """
    )
    found = two_things(vocabulary=vocabulary).features
    assert found["calm"][40, 1] == pytest.approx(90)
    assert found["nearest"][0].tolist() == pytest.approx([40, 40])
    assert found["calm_rank"][40].tolist() == [1, 0]
    assert found["later"][40, 1] == pytest.approx(18)
    assert not vocabulary.feature("later").causal
    assert vocabulary.predicate("attached").types == ("hand", "thing")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("predicate", "expected 'predicate"),
        ("feature calm(thing) = speed", "needs a definition"),
        ("feature calm(thing) = mean of speed over . s", "needs a definition"),  # no number
        (f"feature calm(thing) = mean of speed over {'9' * 400} s", "needs a definition"),
        ("feature calm(thing) = mean of speed", "needs 'over"),
        ("feature x(thing) = least of speed", "cannot be applied"),
        ("feature x(thing, thing) = least of distance", "2 arguments"),
        ("feature x(thing) = rank of nothing", "unknown feature 'nothing'"),
        ("feature speed(thing) = mean of travel over 1 s", "declared twice"),
        ("predicate held(Thing)", "lower-case"),
    ],
)
def test_declarations_that_make_no_sense(line, message):
    with pytest.raises(StateError, match=f"line 2: .*{message}"):
        parse_vocabulary(f"# first\n{line}\n")


def test_sizes_are_measured_where_they_are_declared():
    words = parse_vocabulary(
        "feature width(thing)\nfeature height(thing)\n"
        "feature opening(thing) = change of width over 0.1 s"
    )
    boxes = np.zeros((60, 1, 4)) + STILL
    boxes[30:, 0, 2] += 3.0 * np.arange(30)
    seen = StateObservations.from_boxes(
        "v", TIMES, [TrackedObject("hand")], boxes, vocabulary=words, smoothing=TrackSmoothing(1)
    )
    assert seen.features["width"][[0, 40], 0].tolist() == pytest.approx([20, 50])
    assert seen.features["height"][:, 0].tolist() == pytest.approx([30] * 60)
    assert seen.features["opening"][[20, 40], 0].tolist() == pytest.approx([0, 9])
    assert "width" not in two_things().features


def test_an_object_that_appears_halfway_and_vanishes():
    boxes = np.zeros((60, 2, 4)) + STILL
    boxes[:20, 1] = np.nan
    boxes[50:, 1] = 0  # an empty box is none
    boxes[30:35, 1] = np.nan  # a short gap is filled
    seen = StateObservations.from_boxes("v", TIMES, [TrackedObject("a"), TrackedObject("b")], boxes)
    assert np.flatnonzero(seen.present[:, 1]).tolist() == list(range(20, 50))
    assert np.isnan(seen.features["speed"][:20, 1]).all()
    assert np.isnan(seen.features["distance"][55, 0, 1])
    kept = StateObservations.from_boxes(
        "v",
        TIMES,
        [TrackedObject("a"), TrackedObject("b")],
        boxes,
        smoothing=TrackSmoothing(hold=True),
    )
    assert kept.present.all()
    live = StateObservations.from_boxes(
        "v",
        TIMES,
        [TrackedObject("a"), TrackedObject("b")],
        boxes,
        smoothing=TrackSmoothing(hold=True),
        causal=True,
    )
    assert live.present.all()  # though nothing is known before it is seen
    assert np.isnan(live.features["speed"][:20, 1]).all()
    assert not np.isnan(live.features["speed"][50:, 1]).any()


def test_two_objects_with_one_name_are_refused():
    with pytest.raises(StateError, match="two objects of v are called 'a'"):
        StateObservations.from_boxes(
            "v", TIMES, [TrackedObject("a"), TrackedObject("a")], np.ones((60, 2, 4))
        )


def test_parts_are_measured_where_they_are_nearest():
    boxes = np.full((60, 2, 2, 4), np.nan)
    boxes[:, 0, 0], boxes[:, 0, 1] = [0, 0, 10, 10], [90, 100, 95, 110]  # two hands
    boxes[:, 1, 0] = STILL
    seen = StateObservations.from_boxes(
        "v", TIMES, [TrackedObject("p", "person"), TrackedObject("cup")], boxes
    )
    assert seen.features["distance"][0, 0, 1] == pytest.approx(5)
    assert seen.features["distance"][0, 1, 0] == pytest.approx(5)


def clip_of(ids):
    seen = Detections(
        times=TIMES,
        boxes=np.zeros((60, 3, 4)) + STILL + np.array([0, 50, 200])[None, :, None],
        scores=np.ones((60, 3)),
        labels=np.tile([0, 0, 1], (60, 1)),
        mask=np.ones((60, 3), bool),
        label_names=("cup", "hand"),
        frame_size=(640, 480),
        ids=ids,
    )
    return Clip.cut("v", seen, 0.0, 2.0)


def test_tracks_of_a_clip_are_named_by_their_label():
    seen = StateObservations.from_clip(clip_of(np.tile([4, 7, 9], (60, 1))), kinds={"cup": "it"})
    assert seen.objects == (
        TrackedObject("cup-4", "it"),
        TrackedObject("cup-7", "it"),
        TrackedObject("hand", "hand"),
    )
    assert seen.features["distance"][0, 0, 1] == pytest.approx(np.hypot(30, 20))


def test_a_clip_without_identities_is_refused():
    with pytest.raises(StateError, match="no identities"):
        StateObservations.from_clip(clip_of(None))


@pytest.mark.parametrize("shape", [(59, 2, 4), (60, 3, 4), (60, 2, 5)])
def test_boxes_of_the_wrong_shape(shape):
    with pytest.raises(StateError, match="boxes must be"):
        StateObservations.from_boxes(
            "v", TIMES, [TrackedObject("a"), TrackedObject("b")], np.ones(shape)
        )
