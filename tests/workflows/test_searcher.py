"""Searching by meaning while others change the library; hits that are cut to their moment."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.library.catalog.entries import SentenceEntry
from wordsight.meaning import SentenceHit
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.retrieval.visual import VisualSettings
from wordsight.video import VideoWriter
from wordsight.workflows.found_moments import FoundMoment, at_caption, at_picture
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.searcher import grounded_hits


def test_a_video_that_is_removed_meanwhile_is_left_out(tmp_path):
    learned = hand_lexicon(["person", "backpack", "chair", "trash-can"])
    films = [make_video(tmp_path / f"{name}.mp4", seed=seed) for seed, name in enumerate("ab")]
    with Library.create(tmp_path / "library") as library:
        library.add(films, detector="rendered", workers=1)
        asked = (library, learned, learned.query("The person picked up the backpack."))
        # What an index says may lag behind, and so may the list that a long search began with.
        there = library.videos()[0].id
        limits = {"top": 5, "everything": True, "most": 1}
        gone = grounded_hits(*asked, ["removed-1234"], RecordingReporter(), **limits)
        assert gone == ([], None)
        assert grounded_hits(*asked, [there], RecordingReporter(), **limits)[0] is not None


def test_how_often_counts_more_than_is_shown(tmp_path, monkeypatch):
    learned = hand_lexicon(["person", "backpack", "chair", "trash-can"])
    scores = learned.threshold + np.array([3.0, 2.0, 1.0, -1.0])

    def found(learned, clip, query, *, top, only_true):
        hits = [
            SentenceHit("a", 5.0 * n, 5.0 * n + 2, float(score), query.text, bool(n < 3), ())
            for n, score in enumerate(scores)
        ]
        return hits[:top]

    monkeypatch.setattr("wordsight.meaning.tasks.answer.find", found)
    query = learned.query("How many times did someone pick up a chair?")
    with Library.create(tmp_path / "library") as library:
        library.add([make_video(tmp_path / "a.mp4")], detector="rendered", workers=1)
        asked = (library, learned, query, [], RecordingReporter())
        hits, answer = grounded_hits(*asked, top=1, everything=False)
    assert [hit.start for hit in hits] == [0.0]
    assert answer.text == "3"
    assert answer.probability == pytest.approx(1 / (1 + np.exp(-1.0)))  # of the least sure one


def test_a_hit_by_what_is_said_is_the_captions_own_time():
    shot = FoundMoment("v", 0.0, 60.0, 1.0, ("said",), shot="v#0", key_time=30.0)
    captions = [
        SentenceEntry("v", None, None, "A cup and a box.", "a", 1),
        SentenceEntry("v", 2.0, 4.0, "She takes a cup.", "a", 2),
        SentenceEntry("v", 8.0, 9.0, "She puts the cup into the box.", "a", 3),
        SentenceEntry("v", 70.0, 72.0, "The cup is in the box.", "a", 4),  # another shot
    ]

    def terms(text):
        return text.lower().rstrip(".").split()

    both = at_caption(shot, captions, {"cup": 1.0, "box": 2.0}, terms)
    assert (both.start, both.end, both.key_time, both.shot) == (8.0, 9.0, 8.5, "v#0")
    assert at_caption(shot, captions, {"takes": 1.0}, terms).start == 2.0
    assert at_caption(shot, captions, {"dog": 1.0}, terms) == shot


def test_a_hit_by_a_picture_is_the_stretch_that_looks_like_it(tmp_path):
    rng = np.random.default_rng(0)
    one, other = rng.integers(0, 255, (2, 12, 16, 3), dtype=np.uint8).repeat(8, 1).repeat(8, 2)
    path = tmp_path / "film.mp4"
    with VideoWriter(path, (128, 96), 5.0) as writer:
        for number in range(100):
            writer.write(other if 60 <= number < 75 else one)
    search = SimpleNamespace(
        index=SimpleNamespace(visual=SimpleNamespace(settings=VisualSettings()))
    )
    wanted = VisualSettings().features().samples(other)
    shot = FoundMoment("v", 0.0, 20.0, 1.0, ("picture",), key_time=10.0)
    found = at_picture(shot, str(path), wanted, search)
    assert found.start == pytest.approx(12.0, abs=1.1) and found.end == pytest.approx(15.0, abs=1.1)
    short = replace(shot, end=3.0)
    assert at_picture(short, str(path), wanted, search) == short
    assert at_picture(shot, str(tmp_path / "gone.mp4"), wanted, search) == shot
