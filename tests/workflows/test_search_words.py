"""Which learned words a search takes when none are named."""

from dataclasses import replace

from tests.library.conftest import make_video
from wordsight.library import Library
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.workflows.found_moments import FoundMoment, evidence_text
from wordsight.workflows.lexicon import LEARNED_FROM
from wordsight.workflows.search import SearchRequest, search


def test_words_of_another_library_are_not_taken_silently(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    learned = hand_lexicon(["person", "backpack", "chair", "trash-can"])
    film = make_video(tmp_path / "a.mp4")
    text = "The person picked up the backpack."
    with Library.create(tmp_path / "library") as library:
        library.add([film], detector="rendered", workers=1)
        elsewhere = replace(learned, notes={**learned.notes, LEARNED_FROM: ["elsewhere-1234"]})
        elsewhere.save("lexicon")  # in the current folder, where nothing looks for it
        found = search(library, SearchRequest(text=text, everything=True))
        assert found.how == "By what is said."
        named = search(library, SearchRequest(text=text, words="lexicon", everything=True))
        assert "mean" in named.how
        assert sum("another library" in note for note in named.warnings) == 1
        notes = {**learned.notes, LEARNED_FROM: [video.id for video in library.videos()]}
        replace(learned, notes=notes).save(library.folder / "lexicon")
        found = search(library, SearchRequest(text=text, everything=True))
        assert "mean" in found.how
        assert not any("another library" in note for note in found.warnings)


def test_a_sentence_that_the_words_cannot_read_is_said_to_be_one(tmp_path):
    film = make_video(tmp_path / "a.mp4")
    with Library.create(tmp_path / "library") as library:
        library.add([film], detector="rendered", workers=1)
        hand_lexicon(["person", "chair"]).save(library.folder / "lexicon")

        def notes(text):
            found = search(library, SearchRequest(text=text))
            assert "mean" not in found.how
            return " ".join(found.warnings)

        assert "no meaning is known for 'left', 'table'" in notes("Who left the table?")
        assert "no meaning is known for 'knits'" in notes("the person knits")
        assert "up to 80 words, got 10,000" in notes("word " * 10_000)
        assert "cannot read" not in notes("kitchen")
        assert "cannot read" not in notes("blue sky")
        assert search(library, SearchRequest(text="the of")).how.startswith("By nothing")


def test_a_word_that_is_said_is_named_though_it_tells_nothing():
    counts = {"shot": 1, "scene": 1, "video": 1}
    term = {"term": "black", "word": "black", "evidence": -0.01, "counts": counts}
    found = FoundMoment("film", 0.0, 1.0, -0.01, ("said",), terms=(term,))
    assert evidence_text(found) == "said: black, as usual as everywhere"
    unsaid = replace(found, terms=({**term, "counts": dict.fromkeys(counts, 0)},))
    assert evidence_text(unsaid) == "nothing speaks for it"
