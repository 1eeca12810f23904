"""Scores, posteriors, counts and paths against enumeration of every choice."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play
from wordsight.inference import LatticeTooLargeError
from wordsight.language import parse
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe, view_clip
from wordsight.meaning.scoring.clip_scorers import track_weights
from wordsight.meaning.scoring.scorer import TrackPrior, make_scorer
from wordsight.meaning.scoring.tables import word_tables
from wordsight.meaning.training.corpus import background_distributions, build_corpus, initial_words
from wordsight.meaning.training.em import zero_counts
from wordsight.records import Clip, Detections, Sentence, Word

SIGHT = TrackPrior(unseen=0.2)
TEXTS = [
    "The person lifted the ball.",
    "The person waited.",
    "The person lifted the ball quickly.",
    "The ball left of the crate approached the person.",
]


def small(tracked, frames=3, things=2):
    """A clip of few frames and things, and some words with random tables."""
    whole = play("lifted", tracked=True, frames=frames, rate=6.0, seed=3)
    seen = whole.detections
    kept = np.isin(seen.ids, np.arange(things))
    columns = np.argsort(~kept, axis=1, kind="stable")[:, :things]
    rows = np.arange(frames)[:, None]
    cut = Detections(
        seen.times,
        seen.boxes[rows, columns],
        np.random.default_rng(0).uniform(-0.3, 0.4, (frames, things)),
        seen.labels[rows, columns],
        np.ones((frames, things), dtype=bool),
        seen.label_names,
        seen.frame_size,
        ids=seen.ids[rows, columns] if tracked else None,
    )
    return Clip("v", 0.0, frames / 6.0, cut)


def torn(clip):
    """The clip with a new identity in the last frame for one of its things."""
    ids = clip.detections.ids.copy()
    ids[-1] = np.where(ids[-1] == 0, 7, ids[-1])
    return replace(clip, detections=replace(clip.detections, ids=ids))


@pytest.fixture(params=["tracks", "tracklets", "boxes"])
def problem(request):
    """Observation, tables of random words, and the sentences."""
    clip = small(request.param != "boxes")
    if request.param == "tracklets":
        clip = torn(clip)
    view = view_clip(clip, rate=None, participants=request.param)
    if request.param == "tracklets":  # three pieces, two of them joined, and the unseen one
        assert view.carried.any() and view.present.shape[1] == 5
        assert view.overlap.sum() == 4 + 4
    vocabulary = learn_vocabulary([view], get_feature_set("recommended"))
    seen = observe(view, vocabulary)
    sentences = [parse(text, LEXICON) for text in TEXTS]
    corpus = build_corpus([seen], [sentences], LEXICON, candidates=[[]])
    rng = np.random.default_rng(1)
    words = initial_words(corpus, get_feature_set("recommended"), vocabulary, rng, presence=False)
    background = background_distributions([seen], vocabulary)
    tables = {e: word_tables(w, vocabulary, background) for e, w in words.items()}
    return seen, tables, sentences


def enumerated(seen, tables, sentence):
    """Every choice of things and states with its weight, and the weight of all tracks alone."""
    frames, count, people = seen.num_frames, seen.num_objects, sentence.num_participants
    words = [tables[word.entry] for word in sentence.words]
    logs = [table.logs(seen) for table in words]
    if seen.tracked:
        prior = np.ones(count)
        prior[-1] = SIGHT.unseen
        prior /= prior.sum()
        tracks = [(np.repeat([[j]], frames, 0).ravel(), prior[j]) for j in range(count)]
    else:
        unary, coherence = track_weights(seen.view, SIGHT)
        tracks = []
        for path in product(range(count), repeat=frames):
            weight = np.prod([unary[t, j] for t, j in enumerate(path)])
            weight *= np.prod([coherence[t, path[t], path[t + 1]] for t in range(frames - 1)])
            tracks.append((np.array(path), weight))
    total = sum(weight for _, weight in tracks) ** people
    states = [
        [None] if t.word.follows else list(product(range(t.word.num_states), repeat=frames))
        for t in words
    ]
    for choice in product(tracks, repeat=people):
        weight = np.prod([w for _, w in choice]) / total
        things = np.stack([path for path, _ in choice], axis=1)
        if weight == 0 or not _different(things, sentence, seen.view.overlap):
            continue
        for own in product(*states):
            value = weight
            (leading,) = [s for s, t in zip(own, words, strict=True) if t.word.part == "verb"]
            chosen = [leading if sequence is None else sequence for sequence in own]
            for word, table, log, sequence in zip(sentence.words, words, logs, chosen, strict=True):
                initial, transition, final = table.word.chain(frames)
                if table.word.follows:  # shares the time of the verb, which has paid for it
                    initial, transition, final = (np.ones_like(x) for x in table.word.chain(frames))
                value *= initial[sequence[0]] * final[sequence[-1]]
                for t in range(frames):
                    value *= transition[sequence[t - 1], sequence[t]] if t else 1.0
                    value *= np.exp(log[(t, *things[t, list(word.participants)], sequence[t])])
            if value > 0:
                yield things, chosen, value


def _different(things, sentence, overlap):
    for word in sentence.words:
        mine = things[:, list(word.participants)]
        for a in range(mine.shape[1]):
            for b in range(a):
                if overlap[mine[:, a], mine[:, b]].any():
                    return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("number", [0, 1, 2])
def test_score_path_and_posteriors_equal_enumeration(problem, number):
    seen, tables, sentences = problem
    sentence = sentences[number]
    reading = make_scorer(seen, tables, SIGHT)
    every = list(enumerated(seen, tables, sentence))
    total = sum(value for *_, value in every)
    (ratio,) = reading.log_ratios([sentence])
    assert ratio == pytest.approx(np.log(total), abs=1e-10)
    things = np.zeros((seen.num_frames, sentence.num_participants, seen.num_objects))
    for chosen, _, value in every:
        for t, p in np.ndindex(chosen.shape):
            things[t, p, chosen[t, p]] += value / total
    found, _ = reading.posteriors(sentence)
    assert found == pytest.approx(things, abs=1e-9)
    best = max(every, key=lambda item: item[2])
    path = reading.best_path(sentence)
    assert np.array_equal(path.objects, best[0])
    assert np.array_equal(path.states.T, np.array(best[1]))


def test_counts_equal_enumeration(problem):
    seen, tables, sentences = problem
    sentence, table = sentences[0], tables["lifted"]
    counts = zero_counts(tables)
    make_scorer(seen, tables, SIGHT).add_counts([sentence], np.array([1.0]), counts)
    expected = table.zero_counts()
    every = list(enumerated(seen, tables, sentence))
    total = sum(value for *_, value in every)
    place = [word.entry for word in sentence.words].index("lifted")
    roles = sentence.words[place].participants
    for things, states, value in every:
        for t, state in enumerate(states[place]):
            share = value / total
            first, second = things[t, list(roles)]
            if t:
                expected.transition[states[place][t - 1], state] += share
            else:
                expected.initial[state] += share
            for role, thing in enumerate((first, second)):
                np.add.at(
                    expected.singles[role],
                    (seen.singles[table.single_rows, t, thing], state),
                    share,
                )
            rows = seen.pairs[table.pair_rows, t, first, second]
            np.add.at(expected.pairs[0, 1], (rows, state), share)
    mine = counts["lifted"]
    assert mine.transition == pytest.approx(expected.transition, abs=1e-9)
    assert mine.initial == pytest.approx(expected.initial, abs=1e-9)
    for role in (0, 1):
        assert mine.singles[role] == pytest.approx(expected.singles[role], abs=1e-9)
    assert mine.pairs[0, 1] == pytest.approx(expected.pairs[0, 1], abs=1e-9)
    for found in table.emission_counts(mine):
        assert found.sum(axis=1).max() <= seen.num_frames + 1e-9


def test_the_best_path_weighs_no_more_than_all(problem):
    seen, tables, sentences = problem
    reading = make_scorer(seen, tables, SIGHT)
    for sentence, ratio in zip(sentences, reading.log_ratios(sentences), strict=True):
        best = reading.best_path(sentence).log_score
        if not seen.tracked:
            # The joint path is weighed before tracks are normalised.
            unary, coherence = track_weights(seen.view, SIGHT)
            every = np.log(_partition(unary, coherence)) * sentence.num_participants
            best -= every
        assert best <= ratio + 1e-9


def _partition(unary, coherence):
    now = unary[0]
    for t in range(len(coherence)):
        now = (now @ coherence[t]) * unary[t + 1]
    return now.sum()


def test_a_participant_of_whom_nothing_is_said_changes_nothing(problem):
    seen, tables, sentences = problem
    silent = dict(tables)
    # A noun that says exactly what the background says has a ratio of 1 everywhere.
    table = tables["crate"]
    silent["crate"] = type(table)(
        table.word,
        {0: np.zeros_like(table.singles[0])},
        {},
        table.single_rows,
        table.pair_rows,
        table.layouts,
    )
    short = sentences[0]
    longer = Sentence("", (*short.words, Word("crate", (2,))))
    reading = make_scorer(seen, silent, SIGHT)
    one, other = reading.log_ratios([short, longer])
    assert one == pytest.approx(other, abs=1e-10)


@pytest.mark.parametrize("tracked", [True, False])
def test_the_order_of_detections_does_not_matter(tracked):
    clip = small(tracked, frames=4, things=3)
    seen = clip.detections
    order = np.stack([np.random.default_rng(t).permutation(3) for t in range(4)])
    rows = np.arange(4)[:, None]
    mixed = Detections(
        seen.times,
        seen.boxes[rows, order],
        seen.scores[rows, order],
        seen.labels[rows, order],
        seen.mask,
        seen.label_names,
        seen.frame_size,
        ids=seen.ids[rows, order] if tracked else None,
    )
    scores = []
    for one in (clip, Clip("v", 0.0, clip.end, mixed)):
        view = view_clip(one, rate=None)
        vocabulary = learn_vocabulary([view_clip(clip, rate=None)], get_feature_set("recommended"))
        found = observe(view, vocabulary)
        sentence = parse(TEXTS[0], LEXICON)
        corpus = build_corpus([found], [[sentence]], LEXICON, candidates=[[]])
        rng = np.random.default_rng(1)
        words = initial_words(corpus, get_feature_set("recommended"), vocabulary, rng)
        background = background_distributions([found], vocabulary)
        tables = {e: word_tables(w, vocabulary, background) for e, w in words.items()}
        scores.append(make_scorer(found, tables, SIGHT).log_ratios([sentence])[0])
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)


def test_too_many_participants_say_so(problem):
    seen, tables, _ = problem
    crowd = Sentence("", tuple(Word("ball", (p,)) for p in range(40)))
    with pytest.raises(LatticeTooLargeError, match="40 participants"):
        make_scorer(seen, tables, SIGHT).log_ratios([crowd])
