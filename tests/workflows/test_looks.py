"""Words of a library whose detector gives no classes: learned, kept and used like all others."""

import pytest

import wordsight
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.worlds import street, write_world


@pytest.mark.slow
def test_nouns_learned_from_regions_serve_every_verb(tmp_path):
    write_world(street(8, 3, noise=0.0, frame_rate=10.0), tmp_path / "films")
    library, words = tmp_path / "library", tmp_path / "lexicon"
    wordsight.add(library, tmp_path / "films", detector="regions", workers=1)
    learned = wordsight.learn(library, quick=True, restarts=1, grammar="street", words=words)
    assert learned.lexicon.noun_looks is not None
    assert "person" in learned.lexicon.noun_looks.nouns
    assert any("clips are few" in note and "get objects" in note for note in learned.warnings)
    assert LearnedLexicon.load(words).noun_looks is not None
    with Library.open(library) as opened:
        video = opened.videos()[0].id
        said = opened.sentences(video)[0].text
    scored = wordsight.score(library, video, said, words=words)
    again = learned.lexicon.score
    assert scored.scores[0].score == pytest.approx(again(_clip(library, video), said).score)
    assert wordsight.describe(library, video, words=words).to_json()
    assert wordsight.track(library, video, said, words=words).to_json()
    assert wordsight.search(library, said, words=words, everything=True).moments


def _clip(library, video):
    from wordsight.workflows.clips import whole_clip

    with Library.open(library) as opened:
        return whole_clip(opened, video)
