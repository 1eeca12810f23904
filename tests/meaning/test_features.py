"""Features: what they measure, and what must not change them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.meaning.plays import LABELS, play
from tests.records.builders import detections
from wordsight.errors import MeaningError
from wordsight.meaning.features import (
    FEATURE_SETS,
    available_features,
    get_feature,
    get_feature_set,
    learn_vocabulary,
    observe,
    register_feature,
    view_clip,
)
from wordsight.meaning.features.bins import QuantileBins
from wordsight.meaning.features.observation import measured
from wordsight.records import Clip, Detections


def tracks(paths, *, rate=10.0, size=(640, 480), labels=None, half=10.0):
    """A clip of things that follow ``(T, 2)`` paths of their centres."""
    centres = np.stack(paths, axis=1).astype(float)
    frames, count = centres.shape[:2]
    names = labels or [f"thing{k}" for k in range(count)]
    known = sorted(set(names))
    seen = Detections(
        times=np.arange(frames) / rate,
        boxes=np.concatenate([centres - half, centres + half], axis=2),
        scores=np.ones((frames, count)),
        labels=np.broadcast_to([known.index(n) for n in names], (frames, count)),
        mask=np.ones((frames, count), dtype=bool),
        label_names=tuple(known),
        frame_size=size,
        ids=np.broadcast_to(np.arange(count), (frames, count)),
    )
    return Clip("v", 0.0, frames / rate, seen)


def line(start, velocity, seconds=2.0, rate=10.0):
    times = np.arange(round(seconds * rate)) / rate
    return np.array(start) + times[:, None] * np.array(velocity)


def values(clip, name, **looking):
    view = view_clip(clip, **({"rate": None} | looking))
    return measured(get_feature(name), view)


DIAGONAL = 800.0


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("speed", 50 / DIAGONAL),  # 30 right and 40 down per second
        ("horizontal-velocity", 30 / DIAGONAL),
        ("vertical-velocity", 40 / DIAGONAL),
        ("acceleration", 0.0),
        ("growth", 0.0),
        ("area", 400 / DIAGONAL**2),
        ("aspect", 0.0),
    ],
)
def test_single_features(name, expected):
    clip = tracks([line((100, 100), (30, 40))])
    assert values(clip, name)[:, 0] == pytest.approx(np.full(20, expected), abs=1e-9)


def test_what_speeds_up_and_slows_down():
    times = np.arange(30) / 10
    falling = np.stack([np.full(30, 100.0), 100 + 40 * times**2], axis=1)
    rises = values(tracks([falling]), "acceleration")[:, 0]
    assert rises[5:25] == pytest.approx(np.full(20, 80 / DIAGONAL), rel=0.05)
    slower = values(tracks([falling[::-1]]), "acceleration")[:, 0]
    assert slower[5:25] == pytest.approx(np.full(20, -80 / DIAGONAL), rel=0.05)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("distance", 100 / DIAGONAL),  # the second is 60 to the right and 80 below
        ("gap", np.hypot(40, 60) / DIAGONAL),
        ("horizontal-offset", -60 / DIAGONAL),
        ("vertical-offset", -80 / DIAGONAL),
        ("size-ratio", 0.0),
        ("share-inside", 0.0),
        ("distance-rate", 0.0),
        ("together", 3),  # both move alike
    ],
)
def test_pair_features(name, expected):
    clip = tracks([line((100, 100), (30, 40)), line((160, 180), (30, 40))])
    assert values(clip, name)[:, 0, 1] == pytest.approx(np.full(20, expected), abs=1e-9)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ((0, 0), (0, 0), 0),  # both still
        ((60, 0), (0, 0), 1),  # only the first moves
        ((0, 0), (60, 0), 2),  # only the second moves
        ((60, 0), (60, 0), 3),  # together
        ((60, 0), (-60, 0), 4),  # apart
    ],
)
def test_moving_together(first, second, kind):
    clip = tracks([line((300, 100), first), line((300, 200), second)])
    assert (values(clip, "together")[5:15, 0, 1] == kind).all()


def test_hands_and_heads_are_context_not_things():
    paths = [
        line((100, 100), (0, 0)),
        line((100, 95), (0, 0)),
        line((300, 100), (10, 0)),
        line((320, 100), (0, 0)),
    ]
    clip = tracks(paths, labels=["person", "head", "hand", "cup"])
    view = view_clip(clip, rate=None)
    assert view.present.shape[1] == 3  # person, cup and the unseen
    assert values(clip, "hand-to-head")[0, 0] == pytest.approx(np.hypot(200, 5) / DIAGONAL)
    assert values(clip, "hand-speed")[5, 0] == pytest.approx(10 / DIAGONAL)
    assert np.isnan(values(clip, "hand-distance")[:, 0]).all()  # the hand is the person's own
    assert values(clip, "hand-distance")[0, 1] == pytest.approx((10 + 0.2 * 20) / DIAGONAL)


@pytest.mark.parametrize("name", sorted(available_features()))
def test_frame_rate_and_picture_size_do_not_matter(name):
    def scene(rate, scale):
        paths = [
            scale * line((100, 100), (30, 40), 2, rate),
            scale * line((400, 300), (-50, 0), 2, rate),
        ]
        size = (round(640 * scale), round(480 * scale))
        return tracks(paths, rate=rate, size=size, half=10 * scale)

    slow, fast, large = scene(10, 1), scene(30, 1), scene(10, 2)
    expected = values(slow, name)
    assert values(fast, name)[::3] == pytest.approx(expected, nan_ok=True, abs=1e-6)
    assert values(large, name) == pytest.approx(expected, nan_ok=True, abs=1e-6)


def test_short_gaps_are_filled_and_long_ones_are_not():
    path = line((100, 100), (30, 0), 3.0)
    clip = tracks([path, line((300, 300), (0, 0), 3.0)])
    mask = np.array(clip.mask)
    mask[5:8, 0] = False
    mask[12:25, 0] = False
    seen = clip.detections
    holed = Detections(
        seen.times, seen.boxes, seen.scores, seen.labels, mask, seen.label_names,
        seen.frame_size, ids=seen.ids,
    )  # fmt: skip
    view = view_clip(Clip("v", 0.0, 3.0, holed), rate=None)
    assert view.present[5:8, 0].all() and not view.present[12:25, 0].any()
    assert view.boxes[6, 0] * DIAGONAL == pytest.approx([108, 90, 128, 110])
    assert (view.indices[5:8, 0] == -1).all()


def test_velocity_without_identities_comes_from_flow_or_from_partners():
    paths = [line((100, 100), (30, 0)), line((400, 300), (0, 20))]
    seen = tracks(paths, labels=["a", "b"]).detections
    loose = Detections(
        seen.times, seen.boxes, seen.scores, seen.labels, seen.mask, seen.label_names,
        seen.frame_size,
    )  # fmt: skip
    view = view_clip(Clip("v", 0.0, 2.0, loose), rate=None)
    assert not view.tracked
    assert view.velocity[:-1, 0, 0] * DIAGONAL == pytest.approx(np.full(19, 30.0))
    flow = np.zeros((20, 2, 2))
    flow[..., 1] = 7.0
    flowing = Detections(
        seen.times, seen.boxes, seen.scores, seen.labels, seen.mask, seen.label_names,
        seen.frame_size, flow=flow,
    )  # fmt: skip
    view = view_clip(Clip("v", 0.0, 2.0, flowing), rate=None)
    assert view.velocity[:, :2, 1] * DIAGONAL == pytest.approx(np.full((20, 2), 7.0))


@pytest.mark.slow
@settings(max_examples=40, deadline=None)
@given(detections(), st.sampled_from([None, 2.0, 6.0]), st.sampled_from(sorted(FEATURE_SETS)))
def test_any_detections_can_be_observed(seen, rate, name):
    end = float(seen.times[-1]) + 0.1 if len(seen) else 1.0
    view = view_clip(Clip("v", 0.0, end, seen), rate=rate)
    vocabulary = learn_vocabulary([view], get_feature_set(name))
    found = observe(view, vocabulary)
    assert found.singles.min(initial=0) >= 0
    assert not view.present[:, -1].any()  # the unseen thing
    assert vocabulary.from_json(vocabulary.to_json()) == vocabulary


def test_labels_the_vocabulary_does_not_know_are_not_measured():
    view = view_clip(play("lifted"))
    vocabulary = learn_vocabulary([view], get_feature_set("recommended"))
    assert vocabulary.labels == tuple(sorted(LABELS))
    other = play("lifted").detections
    renamed = other.relabelled(other.labels, ["person", "ball", "crate", "sofa"])
    found = observe(view_clip(Clip("v", 0.0, 2.0, renamed)), vocabulary)
    sofa = found.singles[0][:, :-1] == 0
    assert sofa.sum() == found.num_frames


def test_a_user_can_add_a_feature():
    @register_feature("test-height", 1, QuantileBins(3), "diagonals")
    def height(view):
        """How tall it is."""
        return view.sides[..., 1]

    assert get_feature("test-height").about == "How tall it is."
    clip = tracks([line((100, 100), (0, 0))])
    assert values(clip, "test-height")[:, 0] == pytest.approx(np.full(20, 20 / DIAGONAL))


def test_unknown_names_are_refused():
    with pytest.raises(MeaningError, match="no feature 'colour'"):
        get_feature("colour")
    with pytest.raises(MeaningError, match="recommended"):
        get_feature_set("best")
    with pytest.raises(MeaningError, match="arity 3"):
        register_feature("triple", 3, QuantileBins(), "")


def test_the_papers_bins_are_the_authors():
    names = {name: get_feature(name).scheme.learn(np.zeros(0)) for name in available_features()
             if name.startswith("paper")}  # fmt: skip
    assert {name: len(bins) for name, bins in names.items()} == {
        "paper-speed": 5,
        "paper-direction": 4,
        "paper-distance": 3,
        "paper-size-ratio": 2,
        "paper-x-position": 2,
    }
    centres = np.array([0.056, 0.453, 2.048, 5.005, 10]) * 40 / 800
    assert names["paper-speed"](centres).tolist() == [0, 1, 2, 3, 4]
    angles = np.array([np.pi, -np.pi / 2, 0, np.pi / 2, -np.pi])
    assert names["paper-direction"](angles).tolist() == [0, 1, 2, 3, 0]
    assert names["paper-distance"](np.array([193, 300, 412]) / 1600).tolist() == [0, 1, 2]


def test_clusters_replace_the_edges_of_bins_but_not_directions():
    views = [
        view_clip(tracks([line((100, 100), (k, 0)), line((50, 20), (0, 3 * k))])) for k in range(9)
    ]
    names = ("paper-speed", "paper-direction")
    given = learn_vocabulary(views, get_feature_set("paper")).bins
    own = learn_vocabulary(views, get_feature_set("paper"), clusters="own").bins
    assert len(own["paper-speed"]) == len(given["paper-speed"]) == 5
    assert own["paper-speed"] != given["paper-speed"]
    assert own[names[1]] == given[names[1]]
