"""The codebook: finds the looks there are, gives the same label everywhere, survives disk."""

import numpy as np
import pytest

from wordsight.errors import FormatError, RecordError
from wordsight.perception import Codebook
from wordsight.records import Detections, FrameDetections


def looks(counts, spread=0.05, width=6, seed=0):
    """Draw points around well separated centres; return them with their true sort."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(0, 1, (len(counts), width))
    truth = np.repeat(np.arange(len(counts)), counts)
    return centres[truth] + rng.normal(0, spread, (len(truth), width)), truth


def purity(labels, truth):
    return sum(np.bincount(truth[labels == word]).max() for word in set(labels.tolist())) / len(
        truth
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "counts",
    [
        (50, 50),  # two of a size
        (120, 60, 30, 15),  # four of different frequency
        (40,) * 9,  # many
    ],
)
def test_finds_how_many_looks_there_are(counts):
    points, truth = looks(counts)
    book = Codebook().fit(points)
    assert len(book.centres_) == len(counts)
    assert purity(book.predict(points), truth) == 1.0
    assert book.shares_.sum() == pytest.approx(1) and (np.diff(book.shares_) <= 0).all()


def test_a_given_number_of_words_is_kept_to():
    points, _ = looks((60, 60, 60))
    assert len(Codebook(2).fit(points).centres_) == 2
    assert Codebook(5).fit(points).label_names == tuple(f"look-{i}" for i in range(5))


def test_rare_looks_are_merged_into_their_neighbours():
    points, _ = looks((500, 500, 2))
    book = Codebook(3, least_share=0.01).fit(points)
    assert len(book.centres_) == 2
    assert set(book.predict(points).tolist()) == {0, 1}


def test_one_look_for_regions_that_are_all_alike():
    assert len(Codebook().fit(np.ones((20, 4))).centres_) == 1
    assert len(Codebook().fit(np.ones((1, 4))).centres_) == 1


@pytest.mark.slow
def test_large_collections_are_sampled():
    points, truth = looks((11_000, 7_000, 6_000), width=4)
    book = Codebook().fit(points)
    assert len(book.centres_) == 3 and purity(book.predict(points), truth) == 1.0


def test_same_seed_same_codebook_and_order_of_other_seeds_agrees():
    points, _ = looks((80, 40, 20), spread=0.3)
    one, two = Codebook(3, random_state=5).fit(points), Codebook(3, random_state=5).fit(points)
    np.testing.assert_array_equal(one.centres_, two.centres_)


def test_round_trip_gives_the_same_labels(tmp_path):
    points, _ = looks((30, 30, 30), spread=0.4)
    book = Codebook(max_words=7).fit(points)
    book.save(tmp_path / "looks.npz")
    again = Codebook.load(tmp_path / "looks.npz")
    np.testing.assert_array_equal(again.centres_, book.centres_)
    np.testing.assert_array_equal(again.shares_, book.shares_)
    assert again.max_words == 7 and again.label_names == book.label_names
    assert again.predict(points).tolist() == book.predict(points).tolist()


def detections(appearance):
    frames = [
        FrameDetections(
            float(t),
            np.tile([0.0, 0, 4, 4], (len(a), 1)),
            np.ones(len(a)),
            np.zeros(len(a), int),
            a,
        )
        for t, a in enumerate(appearance)
    ]
    return Detections.from_frames(frames, label_names=["region"], frame_size=(8, 8))


def test_label_replaces_the_class_and_nothing_else():
    points, _ = looks((4, 4))
    seen = detections([points[:3].astype(np.float32), points[3:].astype(np.float32)])
    book = Codebook(2).fit(points)
    labelled = book.label(seen)
    assert labelled.label_names == ("look-0", "look-1")
    assert labelled.labels[seen.mask].tolist() == book.predict(points).tolist()
    assert np.array_equal(labelled.boxes, seen.boxes)
    assert np.array_equal(labelled.appearance, seen.appearance)


def test_detections_without_any_box_can_be_labelled():
    book = Codebook(2).fit(looks((4, 4))[0])
    assert book.label(detections([np.zeros((0, 6), np.float32)])).label_names == book.label_names


@pytest.mark.parametrize(
    "act, words",
    [
        (lambda: Codebook(0), "words must be 1 or more"),
        (lambda: Codebook(max_words=0), "max_words must be 1"),
        (lambda: Codebook(least_share=1.0), "least_share"),
        (lambda: Codebook().fit(np.zeros((0, 5))), "at least one region"),
        (lambda: Codebook().fit(np.zeros(5)), r"shape \(N, D\)"),
        (lambda: Codebook().fit([[np.nan, 1.0]]), "finite"),
        (lambda: Codebook().predict([[1.0]]), "call fit"),
        (lambda: Codebook(1).fit([[1.0, 2.0]]).predict([[1.0]]), "2 numbers each"),
    ],
)
def test_senseless_use_is_refused(act, words):
    with pytest.raises(RecordError, match=words):
        act()


def test_detections_without_appearance_cannot_be_labelled():
    frame = FrameDetections(0.0, np.array([[0, 0, 4, 4.0]]), np.ones(1), np.zeros(1, int))
    seen = Detections.from_frames([frame], label_names=["person"], frame_size=(8, 8))
    with pytest.raises(RecordError, match="no appearance"):
        Codebook(1).fit([[1.0]]).label(seen)


def test_another_file_is_not_taken_for_a_codebook(tmp_path):
    detections([np.ones((1, 2), np.float32)]).save(tmp_path / "seen.npz")
    with pytest.raises(FormatError, match="a Codebook was expected"):
        Codebook.load(tmp_path / "seen.npz")


def test_outlines_behind_the_looks_are_left_out():
    rng = np.random.default_rng(2)
    looks = rng.normal(0, 1, (60, 33))
    wide = np.concatenate([looks, rng.normal(0, 9, (60, 144))], axis=1)
    book = Codebook(words=4).fit(looks)
    assert book.predict(wide).tolist() == book.predict(looks).tolist()
    assert np.array_equal(Codebook(words=4).fit(wide).centres_, book.centres_)
