"""Which learned words a search takes when none are named."""

from dataclasses import replace

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.workflows.learn import LEARNED_FROM
from wordsight.workflows.search import SearchRequest, search


def test_words_of_another_library_are_not_taken_silently(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learned = hand_lexicon(["person", "backpack", "chair", "trash-can"])
    film = make_video(tmp_path / "a.mp4")
    text = "The person picked up the backpack."
    with Library.create(tmp_path / "library") as library:
        library.add([film], detector="rendered", workers=1)
        own = [video.id for video in library.videos()]
        for videos, taken in ((["elsewhere-1234"], False), (own, True)):
            words = replace(learned, notes={**learned.notes, LEARNED_FROM: videos})
            words.save("lexicon", overwrite=True)
            found = search(library, SearchRequest(text=text, everything=True))
            assert ("mean" in found.how) is taken
            assert any("another library" in note for note in found.warnings) is not taken
        words = replace(learned, notes={**learned.notes, LEARNED_FROM: ["elsewhere-1234"]})
        words.save("lexicon", overwrite=True)
        named = search(library, SearchRequest(text=text, words="lexicon", everything=True))
        assert "mean" in named.how
