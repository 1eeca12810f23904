"""Tracklets that are carried on where they are not detected, and joined to chains."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import play
from wordsight.meaning import ViewSettings
from wordsight.meaning.features import view_clip
from wordsight.meaning.features.view import CARRIED

RATE = 12.0


def without(clip, identity, first, end):
    """The clip without the boxes of one thing in some frames."""
    seen = clip.detections
    mask = seen.mask.copy()
    mask[first:end] &= seen.ids[first:end] != identity
    return replace(clip, detections=replace(seen, mask=mask))


def tracklets(clip):
    return view_clip(clip, rate=None, participants="tracklets", min_visible=0.0)


def test_a_tracklet_is_carried_on_before_and_after_its_boxes():
    clip = without(without(play("lifted", frames=48, rate=RATE), 1, 0, 20), 1, 24, 48)
    view = tracklets(clip)
    assert view.participants == "tracklets" and view.tracked
    carried = np.flatnonzero(view.carried[:, 1])
    reach = int(CARRIED * RATE)
    assert carried.tolist() == [*range(20 - reach, 20), *range(24, 24 + reach)]
    assert view.boxes[carried[0], 1] == pytest.approx(view.boxes[20, 1])
    assert view.boxes[carried[-1], 1] == pytest.approx(view.boxes[23, 1])
    assert (view.labels[carried, 1] == view.labels[20, 1]).all()
    assert np.isnan(view.velocity[carried, 1]).all() and np.isnan(view.growth[carried, 1]).all()
    assert not view.carried[:, [0, 2, 3, 4]].any()


def test_tracks_are_not_carried_on_and_boxes_without_identities_stay_boxes():
    clip = without(play("lifted"), 1, 0, 12)
    assert not view_clip(clip, participants="tracks").carried.any()
    loose = tracklets(play("lifted", tracked=False))
    assert loose.participants == "boxes" and not loose.carried.any()


def torn(clip, *, frame, far=0.0):
    """The clip with a new identity for one thing from a frame on, that far away in pixels."""
    seen = clip.detections
    late = (np.arange(len(clip))[:, None] >= frame) & (seen.ids == 1)
    boxes = seen.boxes + far * late[..., None] * np.array([1.0, 0.0, 1.0, 0.0])
    torn = replace(seen, ids=np.where(late, 9, seen.ids), boxes=boxes)
    return replace(clip, detections=torn)


def test_pieces_of_one_thing_are_joined_beside_the_pieces():
    whole = play("lifted", jitter=0.0)
    view = tracklets(without(torn(whole, frame=12), 1, 10, 12))
    assert view.present.shape[1] == 4 + 1 + 1 + 1  # things, second piece, chain, unseen
    chain = view.present.shape[1] - 2
    assert np.flatnonzero(view.overlap[chain]).tolist() == [1, 4, chain]
    assert view.present[:, chain].all()
    assert np.flatnonzero(view.carried[:, chain]).tolist() == [10, 11]
    same = tracklets(whole)
    seen = ~view.carried[:, chain]
    assert view.boxes[seen, chain] == pytest.approx(same.boxes[seen, 1], abs=0.02)


def test_pieces_far_apart_or_of_other_classes_are_not_joined():
    far = torn(play("lifted"), frame=12, far=300.0)
    assert tracklets(far).present.shape[1] == 4 + 1 + 1
    seen = torn(play("lifted"), frame=12).detections
    labels = np.where(seen.ids == 9, 2, seen.labels)
    other = replace(play("lifted"), detections=replace(seen, labels=labels))
    assert tracklets(other).present.shape[1] == 4 + 1 + 1


def test_unknown_participants_are_refused():
    with pytest.raises(Exception, match="participants"):
        ViewSettings(participants="blobs")


def test_boxes_of_a_tracklet_agree_on_their_class():
    clip = play("lifted", jitter=0.0)
    seen = clip.detections
    rng = np.random.default_rng(0)
    flipped = (seen.ids == 1) & (rng.random(seen.ids.shape) < 0.3)
    assert flipped.any()
    noisy = replace(clip, detections=replace(seen, labels=np.where(flipped, 0, seen.labels)))
    assert np.array_equal(tracklets(noisy).labels, tracklets(clip).labels)
    tracks = view_clip(noisy, rate=None, participants="tracks", min_visible=0.0)
    assert len(np.unique(tracks.labels[:, 1])) == 2  # words read what was detected there
    # Pieces are joined by what they mostly are, not by what their last and first box are.
    ends = (seen.ids == 1) & np.isin(np.arange(len(clip)), (9, 12))[:, None]
    wrong = replace(clip, detections=replace(seen, labels=np.where(ends, 0, seen.labels)))
    torn_apart = without(torn(wrong, frame=12), 1, 10, 12)
    assert tracklets(torn_apart).present.shape[1] == 4 + 1 + 1 + 1
