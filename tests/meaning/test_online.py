"""Sentences judged while a video goes on, beside the search of the whole."""

import pytest

from tests.meaning.plays import LEXICON, film, said, troupe
from wordsight.meaning import SentenceHit, Windows, WordLearner
from wordsight.meaning.tasks.online import SentenceWatch
from wordsight.meaning.tasks.search import judge_spans, search
from wordsight.records import Moment

PARTS = [("waited", "ball"), ("lifted", "crate"), ("waited", "ball"), ("lowered", "ball")] * 2
ASKED = [said("lifted", "crate"), said("lowered", "ball"), said("approached", "ball")]
WINDOWS = Windows(lengths=(2.0,))


@pytest.fixture(scope="module")
def words():
    clips, sentences = troupe(24)
    learner = WordLearner(
        restarts=2, tempered_iterations=4, iterations=3, discriminative=None, random_state=1
    )
    return learner.fit(clips, sentences, lexicon=LEXICON).lexicon_


@pytest.fixture(scope="module")
def whole():
    return film(PARTS, True, new_faces=True)


def watched(words, whole, **options):
    """Watch a clip frame by frame; return per hit when it was reported."""
    watch = SentenceWatch(words, ASKED, windows=WINDOWS, **options)
    found = []
    step = float(whole.times[1] - whole.times[0])
    for time in whole.times + step:
        if watch.due(time):
            found += [(hit, time) for hit in watch.look(whole.part(whole.start, float(time)))]
        found += [(hit, time) for hit in watch.release(time)]
    found += [(hit, whole.end) for hit in watch.look(whole, ended=True)]
    return found


def moments(hits):
    return {(hit.text, *(round(time, 3) for time in hit.judged)) for hit in hits}


@pytest.mark.slow
def test_a_watch_finds_what_a_search_finds(words, whole):
    found = watched(words, whole, hold=1.0)
    true = {(said(*part), 2.0 * n) for n, part in enumerate(PARTS) if said(*part) in ASKED}
    right = {
        (text, begun)
        for text, begun in true
        if any(hit.text == text and abs(hit.judged[0] - begun) <= 1.01 for hit, _ in found)
    }
    assert right == true
    searched = [
        h
        for text in ASKED
        for h in search(words, [whole], text, top=None, only_true=True, windows=WINDOWS)
    ]
    assert len(moments(hit for hit, _ in found) ^ moments(searched)) <= 2


@pytest.mark.slow
def test_hits_come_within_the_bounded_delay(words, whole):
    for hold in (0.0, 0.5):
        for hit, reported in watched(words, whole, hold=hold, lookahead=0.0):
            assert -1e-6 <= reported - hit.judged[1] <= hold + 0.1
            assert hit.holds and hit.evidence
    later = watched(words, whole, hold=0.0, lookahead=0.5)
    assert later and all(reported - hit.judged[1] >= 0.4 for hit, reported in later[:-1])


@pytest.mark.slow
def test_a_window_scores_in_a_part_about_what_it_scores_in_the_whole(words, whole):
    spans = [(2.0, 4.0)]
    sentences = words.sentences(ASKED)
    known = list(judge_spans(words, whole, sentences, spans, WINDOWS))
    recent = list(judge_spans(words, whole.part(1.0, 6.0), sentences, spans, WINDOWS))
    assert known and [number for number, _ in known] == [number for number, _ in recent]
    for (_, one), (_, other) in zip(known, recent, strict=True):
        assert one.score == pytest.approx(other.score, abs=0.1) and one.holds


@pytest.mark.slow
def test_overlapping_hits_are_reported_once_and_the_better_if_it_comes_in_time(words, whole):
    best = watched(words, whole, hold=1.1)
    first = watched(words, whole, hold=0.0)
    for found in (best, first):
        for text in ASKED:
            hits = [Moment("", *hit.judged, hit.score) for hit, _ in found if hit.text == text]
            assert len(WINDOWS.without_overlaps(hits)) == len(hits)
    assert max(hit.score for hit, _ in best) >= max(hit.score for hit, _ in first)


def test_one_event_that_two_windows_find_is_reported_once(words, whole, monkeypatch):
    """As in a search, which leaves out windows that overlap and then events that do."""
    events = {0.0: (1.2, 1.9), 2.0: (1.3, 2.1), 4.0: (4.5, 5.5)}

    def judged(lexicon, clip, sentences, spans, windows):
        for start, end in spans:
            if start in events:
                about = (-1.0, ASKED[0], True, (), 0.0, (start, end))
                yield 0, SentenceHit("film", *events[start], *about)

    monkeypatch.setattr("wordsight.meaning.tasks.online.judge_spans", judged)
    found = [hit for hit, _ in watched(words, whole)]
    assert [(hit.start, hit.end) for hit in found] == [(1.2, 1.9), (4.5, 5.5)]


@pytest.mark.slow
def test_a_watch_begins_anew(words, whole):
    watch = SentenceWatch(words, ASKED, windows=WINDOWS)
    watch.look(whole.part(0.0, 4.0))
    watch.begin(4.5)
    assert not watch.due(6.9) and watch.due(7.0)  # two seconds, and half a second for features
