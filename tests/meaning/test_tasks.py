"""The tasks on one score: track, explain, describe, search, choose."""

from dataclasses import replace

import numpy as np
import pytest

from tests.meaning.plays import LABELS, LEXICON, film, play, said, troupe
from wordsight.language import (
    LanguageError,
    PartOfSpeech,
    default_lexicon,
    parse,
    parse_lexicon,
)
from wordsight.meaning import MeaningError, Windows, WordLearner
from wordsight.meaning.features.observation import cut_window
from wordsight.meaning.model.calibration import Sayings
from wordsight.meaning.tasks.describe import _extended
from wordsight.meaning.training.settings import GradientSettings
from wordsight.records import Clip


@pytest.fixture(scope="module", params=[True, False], ids=["tracks", "loose"])
def learned(request):
    clips, sentences = troupe(24, tracked=request.param)
    learner = WordLearner(
        restarts=3, tempered_iterations=4, iterations=3, gradient=GradientSettings(epochs=2)
    )
    return learner.fit(clips, sentences, lexicon=LEXICON).lexicon_, request.param


@pytest.mark.slow
def test_tracking_finds_who_is_who(learned):
    lexicon, tracked = learned
    clip = play("lifted", "crate", seed=50, tracked=tracked)
    found = lexicon.track(clip, said("lifted", "crate"))
    assert [t.label for t in found.tracks] == ["person", "crate"]
    for track in found.tracks:
        rows = np.searchsorted(clip.times, track.times)
        expected = clip.boxes[rows, (clip.labels[rows] == LABELS.index(track.label)).argmax(1)]
        assert np.array_equal(track.boxes, expected)
    verb = next(w for w in found.words if w.word.startswith("lifted"))
    assert (np.diff(verb.states) >= 0).all() and verb.states[-1] == 2


def test_explaining_names_the_word_that_fails(learned):
    lexicon, tracked = learned
    clip = play("lifted", "ball", seed=51, tracked=tracked)
    assert lexicon.explain(clip, said("approached", "ball")).weakest.startswith("approached")
    why = lexicon.explain(clip, said("approached", "ball"))
    start, end = why.weakest_span
    assert 0 <= start <= end <= 2
    assert len(why.table().splitlines()) == 3
    fits = {w.word: w.fit for w in lexicon.explain(clip, said("lifted", "ball")).words}
    assert min(fits.values()) > 0.5


def test_a_thing_that_does_something_else_is_followed_and_not_called_unseen(learned):
    lexicon, tracked = learned
    for seed in range(51, 57):
        clip = play("lifted", "ball", seed=seed, tracked=tracked)
        for verb in ("approached", "lowered"):
            found = lexicon.track(clip, said(verb, "ball"))
            assert min(len(track.times) for track in found.tracks) > 0.9 * len(found.times)
            assert not any("is not seen" in word.reason for word in found.words)


def test_describing_finds_the_true_sentence(learned):
    lexicon, tracked = learned
    for number, verb in enumerate(("lifted", "lowered", "approached")):
        clip = play(verb, "crate", seed=60 + number, tracked=tracked)
        best = lexicon.describe(clip, top=3)
        assert best[0].text == said(verb, "crate")
        assert 0 <= best[0].probability <= 1


def test_describing_says_what_is_true_the_likeliest_first(learned):
    lexicon, tracked = learned
    clip = play("lifted", "crate", seed=60, tracked=tracked)
    described = lexicon.describe(clip, top=60)
    assert [one.score for one in described] == sorted([one.score for one in described])[::-1]
    found = [lexicon.score(clip, each.text) for each in described]
    assert found and all(one.holds for one in found)
    assert "lifted the crate" in found[0].text


def test_describing_gives_the_best_sentence_where_it_is_doubtful_but_not_absurd(learned):
    lexicon, tracked = learned
    clip = play("lifted", "crate", seed=60, tracked=tracked)
    never = replace(lexicon, threshold=1.0)
    described = never.describe(clip)
    assert [one.text for one in described] == [lexicon.describe(clip)[0].text]
    assert described[0].unsure and not any(one.unsure for one in lexicon.describe(clip))
    absurd = replace(lexicon.belief, offsets=dict.fromkeys(lexicon.belief.offsets, -20.0))
    assert not replace(never, belief=absurd).describe(clip)


def test_describing_never_names_a_thing_a_second_time():
    lexicon = default_lexicon()
    nouns = {entry.name for entry in lexicon.of_part(PartOfSpeech.NOUN)}
    short = parse("the person approached the backpack", lexicon)
    once = list(_extended(short, lexicon, 4))
    for longer in [*once, *(more for one in once for more in _extended(one, lexicon, 4))]:
        named = [word.entry for word in longer.words if word.entry in nouns]
        assert len(set(named)) == len(named)
    assert len(once) > 8


def test_describing_prefers_what_is_usually_said(learned):
    lexicon, tracked = learned
    clip = play("lifted", "crate", seed=60, tracked=tracked)
    silent = replace(lexicon, calibration=replace(lexicon.calibration, sayings=Sayings()))
    usual, blunt = (
        {one.text: one.score for one in words.describe(clip, top=60, only_true=False)}
        for words in (lexicon, silent)
    )
    told, odd = said("lifted", "crate"), "The crate lifted the person."
    assert usual[told] > blunt[told] - 2.0
    assert odd in blunt and usual.get(odd, -np.inf) < blunt[odd] - 4.0


def test_sayings_are_shares_of_roles_and_odds_of_modifiers():
    sentences = [parse(text, LEXICON) for text in (
        "the person lifted the ball", "the person lifted the ball quickly",
        "the person lowered the crate", "the person lifted the crate",
    )]  # fmt: skip
    sayings = Sayings.of(sentences, LEXICON)
    nouns = len(LEXICON.of_part(PartOfSpeech.NOUN))
    wanted = np.log((3 + 0.3 / nouns) / 3.3) + np.log((2 + 0.3 / nouns) / 3.3)
    assert sayings.of_roles(sentences[0], LEXICON) == pytest.approx(wanted)
    assert sayings.of_modifiers(sentences[0], LEXICON) == 0.0
    share = 1 + 1 / nouns
    assert sayings.of_modifiers(sentences[1], LEXICON) == pytest.approx(np.log(share / (4 - share)))
    assert Sayings.from_json(sayings.to_json()) == sayings
    assert (
        Sayings().of_roles(sentences[0], LEXICON)
        == Sayings().of_modifiers(sentences[1], LEXICON)
        == 0
    )


def test_describing_adds_modifiers_that_have_a_meaning():
    clips, sentences = troupe(12)
    told = list(sentences)
    told[0::2] = [f"{s[:-1]} quickly." for s in sentences[0::2]]
    learner = WordLearner(
        restarts=1, tempered_iterations=3, iterations=2, gradient=GradientSettings(epochs=1)
    )
    lexicon = learner.fit(clips, told, lexicon=LEXICON).lexicon_
    lenient = replace(lexicon, threshold=-np.inf)  # so little training makes no word sure
    texts = [d.text for d in lenient.describe(clips[0], top=60, beam=6)]
    assert any("quickly" in text for text in texts)


@pytest.mark.slow
def test_describing_says_what_things_look_like():
    lexicon = LEXICON.extended(parse_lexicon("little : adjective\nbroad : adjective").entries)
    looks = {"ball": "little", "crate": "broad"}
    clips, sentences = troupe(24)
    told = [s.replace(f"the {n}", f"the {a} {n}") for s in sentences for n, a in looks.items()
            if n in s]  # fmt: skip
    seen = [c for c, s in zip(clips, sentences, strict=True) if "the " in s]
    words = (
        WordLearner(restarts=1, tempered_iterations=4, iterations=3, discriminative=None)
        .fit(seen, told, lexicon=lexicon)
        .lexicon_
    )
    for noun, look in looks.items():
        clip = play("lifted", noun, seed=80)
        found = [each.text for each in words.describe(clip, top=400, beam=40)]
        wrong = f"lifted the {'broad' if look == 'little' else 'little'} {noun}."
        right = next(n for n, text in enumerate(found) if f"lifted the {look} {noun}." in text)
        others = [n for n, text in enumerate(found) if wrong in text]
        assert all(right < other for other in others)


def test_searching_finds_the_moment_in_a_film(learned):
    lexicon, tracked = learned
    parts = [("approached", "ball"), ("lifted", "crate"), ("lowered", "ball"), ("waited", "ball")]
    whole = film(parts, tracked)
    for number, (verb, patient) in enumerate(parts[:3]):
        steps = []
        hits = lexicon.search(
            [whole],
            said(verb, patient),
            windows=Windows(lengths=(2.0,), step=0.25),
            top=3,
            progress=lambda *step, steps=steps: steps.append(step),
        )
        assert hits[0].start == pytest.approx(2.0 * number, abs=0.51)
        assert hits[0].score >= hits[-1].score
        assert {word for word, _ in hits[0].evidence} == {
            "person(p0)",
            f"{verb}(p0,p1)",
            f"{patient}(p1)",
        }
        assert steps
        for one in hits:
            for other in hits:
                if one is not other:
                    assert min(one.end, other.end) - max(one.start, other.start) <= 0.61


@pytest.mark.slow
@pytest.mark.parametrize("before", [5, 30], ids=["one piece", "several pieces"])
def test_searching_finds_those_who_are_in_sight_for_a_moment_only(learned, before):
    lexicon, tracked = learned
    parts = [("waited", "ball")] * before + [("lifted", "crate"), ("waited", "ball")]
    whole = film(parts, tracked, new_faces=True)
    windows = Windows(lengths=(2.0,))
    hits = lexicon.search([whole], said("lifted", "crate"), windows=windows, top=3)
    assert hits[0].start == pytest.approx(2.0 * before, abs=0.01) and hits[0].holds
    alone = Clip.cut("film", whole.detections, hits[0].start, hits[0].end)
    assert hits[0].score == pytest.approx(lexicon.score(alone, hits[0].text).score, abs=0.3)
    everything = lexicon.search([whole], said("lifted", "crate"), windows=windows, top=None)
    assert [hit.score for hit in everything[:3]] == [hit.score for hit in hits]
    starts = sorted(hit.start for hit in everything)
    assert starts[0] <= 1 and max(np.diff(starts)) <= 3  # nothing is passed over


def test_searching_may_find_nothing(learned):
    lexicon, tracked = learned
    still = film([("waited", "ball"), ("waited", "crate")], tracked)
    assert lexicon.search([still], said("lifted", "ball"), only_true=True) == []


def test_windows_share_what_the_whole_film_measures(learned):
    lexicon, tracked = learned
    whole = film([("approached", "ball"), ("lifted", "crate")], tracked)
    seen = lexicon.observe(whole)
    window = cut_window(seen, 12, 24)
    assert window.num_frames == 12
    assert np.array_equal(window.view.frames, seen.view.frames[12:24])
    assert window.duration == pytest.approx(2.0)
    assert window.pairs.shape[2:] == (window.num_objects,) * 2


def test_sentences_that_cannot_be_read_are_refused(learned):
    lexicon, tracked = learned
    clip = play("lifted", tracked=tracked)
    with pytest.raises(LanguageError, match="elephant"):
        lexicon.score(clip, "The elephant waited.")
    with pytest.raises(MeaningError, match="no meaning has been learned for 'waited'"):
        lexicon.score(clip, "The person waited.")
    with pytest.raises(MeaningError, match="windows need"):
        Windows(lengths=())


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda words, clip: words.score(None, said("lifted")), "expected a Clip.*NoneType"),
        (lambda words, clip: words.score("film.mp4", said("lifted")), "expected a Clip.*film.mp4"),
        (lambda words, clip: words.score(clip, 3), "sentence as text, got int"),
        (lambda words, clip: words.track(clip, None), "sentence as text, got NoneType"),
        (lambda words, clip: words.explain([clip], said("lifted")), "expected a Clip.*list"),
        (lambda words, clip: words.describe(7), "expected a Clip.*int"),
        (lambda words, clip: words.search("film", said("lifted")), "expected a Clip.*'f'"),
        (lambda words, clip: words.choose(clip, []), "nothing to choose from"),
    ],
)
def test_other_things_than_clips_and_sentences_are_refused(learned, ask, message):
    lexicon, tracked = learned
    with pytest.raises(MeaningError, match=message):
        ask(lexicon, play("lifted", tracked=tracked))
