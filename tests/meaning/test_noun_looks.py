"""Nouns that learn what they look like, from boxes without classes."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.meaning.plays import LABELS, LEXICON, troupe
from wordsight.errors import FormatError
from wordsight.language import parse
from wordsight.meaning import LearnedLexicon, MeaningError, WordLearner
from wordsight.meaning.model.noun_looks import (
    followed_regions,
    has_only_looks,
    look_blocks,
    track_looks,
)
from wordsight.meaning.training import noun_looks
from wordsight.meaning.training.noun_looks import (
    LookSettings,
    constrained_posterior,
    learn_noun_looks,
    limit_cost,
)

LOOKS = np.random.default_rng(5).normal(0, 1, (len(LABELS), 40)).astype(np.float32)
FEW = {"restarts": 1, "tempered_iterations": 3, "iterations": 2, "discriminative": None}


def regions(clip, sentence, seed=0, spread=0.25):
    """The boxes of a play without classes: what shows which is which is only how they look.

    What is not said is there in some plays only.
    """
    rng = np.random.default_rng(seed)
    seen = clip.detections
    own = LOOKS + rng.normal(0, spread, LOOKS.shape)  # every film has things of its own
    looks = own[seen.labels] + rng.normal(0, 0.1, (*seen.labels.shape, LOOKS.shape[1]))
    there = [kind for kind, noun in enumerate(LABELS) if noun in sentence or rng.random() < 0.4]
    mask = np.isin(seen.labels, there)
    plain = seen.relabelled(np.zeros_like(seen.labels), ("region",))
    looks = looks.astype(np.float32)
    return replace(clip, detections=replace(plain, ids=None, appearance=looks, mask=mask))


def unnamed_troupe(count, seed=0):
    clips, sentences = troupe(count, seed=seed, frames=16)
    pairs = enumerate(zip(clips, sentences, strict=True))
    return clips, [regions(clip, text, seed + n) for n, (clip, text) in pairs], sentences


@pytest.fixture(scope="module")
def learned():
    _, seen, sentences = unnamed_troupe(30)
    return WordLearner(**FEW).fit(seen, sentences, lexicon=LEXICON).lexicon_


def value(q, logs, said, insistence):
    """Divergence from the unconstrained posterior, plus the cost of missed limits."""
    every = np.concatenate([logs, np.zeros((len(logs), 1))], axis=1)
    p = np.exp(every) / np.exp(every).sum(axis=1, keepdims=True)
    divergence = (q * np.log(np.maximum(q, 1e-300) / p)).sum()
    return divergence + limit_cost(q[:, :-1].sum(axis=0)[None], said[None], insistence)


@pytest.mark.slow
@pytest.mark.parametrize("insistence", [0.5, 8.0])
@pytest.mark.parametrize("said", [(False, False), (True, False), (True, True)])
def test_no_distribution_respects_the_counts_at_less_divergence(said, insistence):
    rng = np.random.default_rng(1)
    said = np.array(said)
    for _ in range(5):
        logs = rng.normal(-1, 3, (3, 2))
        best = constrained_posterior(logs[None], said[None], insistence, rounds=2000)[0]
        least = value(best, logs, said, insistence)
        wild = rng.dirichlet(np.full(3, 0.4), (500, 3))
        near = 0.98 * best + 0.02 * wild[:500]
        for q in (*wild[:500], *near):
            assert value(q, logs, said, insistence) >= least - 1e-6
    grid = np.linspace(1e-6, 1 - 1e-6, 101)
    logs = np.array([[-2.0], [-4.0]])
    every = [
        (value(np.array([[a, 1 - a], [b, 1 - b]]), logs, said[:1], insistence), a, b)
        for a in grid
        for b in grid
    ]
    best = constrained_posterior(logs[None], said[None, :1], insistence, rounds=2000)[0, :, 0]
    assert best == pytest.approx(min(every)[1:], abs=0.01)


def test_clips_with_fewer_tracks_are_not_affected_by_their_padding():
    logs = np.array([[[0.5], [-1.0]], [[0.5], [-np.inf]]])
    alone = constrained_posterior(logs[1:, :1], np.array([[True]]), 8.0)
    both = constrained_posterior(logs, np.array([[True], [True]]), 8.0)
    assert both[1, 0] == pytest.approx(alone[0, 0], abs=1e-4)
    assert both[1, 1, 0] == 0.0


def test_the_objective_of_em_never_falls(monkeypatch):
    exact = noun_looks.constrained_posterior
    monkeypatch.setattr(
        noun_looks, "constrained_posterior", lambda *given: exact(*given, rounds=300)
    )
    histories = []
    run = noun_looks._Start.run

    def recorded(self):
        result = run(self)
        histories.append(self.history)
        return result

    monkeypatch.setattr(noun_looks._Start, "run", recorded)
    _, seen, sentences = unnamed_troupe(10)
    tracks = [track_looks(followed_regions(clip)) for clip in seen]
    parsed = [[parse(text, LEXICON)] for text in sentences]
    settings = LookSettings(starts=3, heat=1.0, axes=8, rest=3)
    assert learn_noun_looks(tracks, parsed, LEXICON, settings=settings) is not None
    assert len(histories) == 3 + 4
    lasting = [np.diff(history[noun_looks._EARLY :]) for history in histories]
    assert all((steps >= -1e-3).all() for steps in lasting)
    assert max(steps.max() for steps in lasting) > 0.1


@pytest.mark.slow
def test_things_of_new_clips_get_their_nouns(learned):
    clips, seen, _ = unnamed_troupe(12, seed=99)
    right = []
    for clip, region in zip(clips, seen, strict=True):
        named = learned.named(region).detections
        for row in range(0, len(named), 5):
            there, real = named.mask[row], region.mask[row]
            truth = clip.detections.labels[row][real].tolist()
            true = dict(zip(map(tuple, clip.boxes[row][real]), truth, strict=True))
            labels = named.labels[row][there].tolist()
            found = dict(zip(map(tuple, named.boxes[row][there]), labels, strict=True))
            nouns = [*named.label_names, "lamp"]
            right += [nouns[found.get(box, -1)] == LABELS[kind] for box, kind in true.items()]
    assert np.mean(right) > 0.65  # one in four by chance
    assert learned.vocabulary.labels == ("ball", "crate", "person")


def test_words_learned_from_looks_tell_sentences_apart(learned):
    _, seen, sentences = unnamed_troupe(12, seed=99)
    options = sorted(set(sentences))
    chosen = [options[learned.choose(clip, options)] for clip in seen]
    assert np.mean(np.array(chosen) == np.array(sentences)) > 0.6  # chance is 1 in 6
    tracked = learned.track(seen[0], sentences[0])
    assert len(tracked.tracks[0].boxes) > 8


def test_looks_are_saved_with_the_words(learned, tmp_path):
    _, seen, sentences = unnamed_troupe(3, seed=7)
    learned.save(tmp_path / "words")
    loaded = LearnedLexicon.load(tmp_path / "words")
    for clip, sentence in zip(seen, sentences, strict=True):
        assert loaded.score(clip, sentence).score == learned.score(clip, sentence).score
    model = (tmp_path / "words" / "model.json").read_text(encoding="utf-8")
    (tmp_path / "words" / "model.json").write_text(
        model.replace('"crate",\n   "person"', '"crate"')
    )
    with pytest.raises(FormatError, match="looks of nouns"):
        LearnedLexicon.load(tmp_path / "words")


def test_words_without_looks_keep_the_earlier_layout(tmp_path):
    clips, sentences = troupe(6, frames=12)
    learner = WordLearner(**FEW).fit(clips, sentences, lexicon=LEXICON)
    assert learner.lexicon_.noun_looks is None
    learner.lexicon_.save(tmp_path / "words")
    assert '"version": 2' in (tmp_path / "words" / "model.json").read_text(encoding="utf-8")


def test_looks_of_another_detector_are_refused(learned):
    _, seen, sentences = unnamed_troupe(1)
    clip = seen[0]
    short = replace(clip.detections, appearance=clip.appearance[..., :20])
    with pytest.raises(MeaningError, match="detect the videos again"):
        learned.score(replace(clip, detections=short), sentences[0])


def test_clips_of_different_detectors_are_not_learned_from_together():
    _, seen, sentences = unnamed_troupe(4)
    short = replace(seen[0].detections, appearance=seen[0].appearance[..., :20])
    mixed = [replace(seen[0], detections=short), *seen[1:]]
    with pytest.raises(MeaningError, match="28 and 48 numbers"):
        WordLearner(**FEW).fit(mixed, sentences, lexicon=LEXICON)


def test_only_boxes_without_classes_are_named_by_looks(learned):
    clips, seen, _ = unnamed_troupe(1)
    assert has_only_looks(seen[0]) and not has_only_looks(clips[0])
    assert learned.named(clips[0]) is clips[0]
    cuts = [0, 33, 177, 181, 185]
    assert look_blocks(185) == [slice(*pair) for pair in pairwise(cuts)]


def test_a_clip_without_boxes_has_no_looks(learned):
    _, seen, sentences = unnamed_troupe(1)
    detections = seen[0].detections
    empty = replace(seen[0], detections=replace(detections, mask=np.zeros_like(detections.mask)))
    assert len(track_looks(followed_regions(empty))) == 0
    assert not learned.score(empty, sentences[0]).holds
