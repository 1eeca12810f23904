"""Searching by meaning while others change the library."""

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.searcher import grounded_hits


def test_a_video_that_is_removed_meanwhile_is_left_out(tmp_path):
    learned = hand_lexicon(["person", "backpack", "chair", "trash-can"])
    films = [make_video(tmp_path / f"{name}.mp4", seed=seed) for seed, name in enumerate("ab")]
    with Library.create(tmp_path / "library") as library:
        library.add(films, detector="rendered", workers=1)
        asked = (library, learned, "The person picked up the backpack.")
        # What an index says may lag behind, and so may the list that a long search began with.
        there = library.videos()[0].id
        limits = {"top": 5, "everything": True, "most": 1}
        assert grounded_hits(*asked, ["removed-1234"], RecordingReporter(), **limits) == []
        assert grounded_hits(*asked, [there], RecordingReporter(), **limits) is not None
