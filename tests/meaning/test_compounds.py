"""Words that share their time: equal to enumeration, whoever they speak of, and learned as one."""

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play
from tests.meaning.test_scorers import SIGHT, enumerated, small
from wordsight.inference import ConvergenceMonitor
from wordsight.language import parse, parse_lexicon
from wordsight.meaning import WordLearner
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe, view_clip
from wordsight.meaning.scoring.scorer import make_scorer
from wordsight.meaning.scoring.tables import CompoundTables, word_tables
from wordsight.meaning.training.corpus import background_distributions, build_corpus, initial_words
from wordsight.meaning.training.em import zero_counts

WORDS = parse_lexicon(
    """
    person : noun
    ball   : noun
    crate  : noun
    lifted : verb (agent, patient)
    quickly: adverb
    towards: motion-preposition
    """.replace("\n    ", "\n")
)
TEXTS = [
    "The person lifted the ball towards the crate.",
    "The person lifted the ball quickly towards the crate.",
]


@pytest.fixture(params=["recommended", "paper"])
def problem(request):
    features = get_feature_set(request.param)
    view = view_clip(small(True), rate=None)
    vocabulary = learn_vocabulary([view], features)
    seen = observe(view, vocabulary)
    sentences = [parse(text, WORDS) for text in TEXTS]
    corpus = build_corpus([seen], [sentences], WORDS, candidates=[[]])
    rng = np.random.default_rng(1)
    words = initial_words(corpus, features, vocabulary, rng, presence=False)
    background = background_distributions([seen], vocabulary)
    return seen, {e: word_tables(w, vocabulary, background) for e, w in words.items()}, sentences


def apart(seen, every):
    """Only choices of three different things, or unseen ones: a compound speaks of all three."""
    unseen = seen.num_objects - 1
    for things, states, value in every:
        real = things[0][things[0] != unseen]
        if len(set(real.tolist())) == len(real):
            yield things, states, value


@pytest.mark.slow
def test_three_participants_equal_enumeration(problem):
    seen, tables, (sentence, longer) = problem
    reading = make_scorer(seen, tables, SIGHT)
    tied = tables["towards"].word.follows
    every = list(enumerated(seen, tables, sentence))
    every = list(apart(seen, every)) if tied else every
    total = sum(value for *_, value in every)
    assert reading.log_ratios([sentence])[0] == pytest.approx(np.log(total), abs=1e-10)
    best = max(every, key=lambda item: item[2])
    path = reading.best_path(sentence)
    assert np.array_equal(path.states.T, np.array(best[1]))
    assert len(CompoundTables(tables).joined(longer).words) == (4 if tied else 6)


def test_evidence_adds_up_and_counts_are_shared_out(problem):
    seen, tables, sentences = problem
    reading = make_scorer(seen, tables, SIGHT)
    prior = np.log(np.append(np.ones(seen.num_objects - 1), SIGHT.unseen))
    prior -= np.log(np.exp(prior).sum())
    for sentence in sentences:
        evidence = seen.num_frames * reading.evidence(sentence, 10_000)[..., 0]
        choices = np.sort(reading.choices(sentence).logs.ravel())[::-1]
        assert len(evidence) == np.isfinite(choices).sum()
        least, most = (len(sentence.words) and f(prior) * sentence.num_participants
                       for f in (np.min, np.max))  # fmt: skip
        gaps = choices[: len(evidence)] - evidence.sum(axis=1)
        assert (gaps >= least - 1e-9).all() and (gaps <= most + 1e-9).all()
        counts = zero_counts(tables)
        reading.add_counts([sentence], np.ones(1), counts)
        for word in sentence.words:
            for found in tables[word.entry].emission_counts(counts[word.entry]):
                assert found.sum() <= seen.num_frames + 1e-9


@pytest.mark.slow
def test_loose_detections_tie_the_same_words():
    seen_words = ["The person lifted the ball quickly."]
    clips = [play("lifted", "ball", seed=n, frames=6, tracked=False) for n in range(3)]
    learner = WordLearner(
        restarts=1, tempered_iterations=0, iterations=3, discriminative=None, max_candidates=2
    )
    lexicon = learner.fit(clips, seen_words * 3, lexicon=LEXICON).lexicon_
    monitor = ConvergenceMonitor(tolerance=0.0, falling="raise")
    for value in learner.histories_[0]:
        monitor.update(value)
    words = lexicon.track(clips[0], seen_words[0]).words
    states = {word.word.split("(")[0]: word.states for word in words}
    assert np.array_equal(states["quickly"], states["lifted"])


def test_words_that_follow_say_nothing_of_before_and_after(problem):
    seen, tables, sentences = problem
    for entry, table in tables.items():
        logs = table.logs(seen)
        outer = np.abs(logs[..., [0, -1]]).max()
        assert (outer == 0) == table.word.follows, entry
    counts = zero_counts(tables)
    make_scorer(seen, tables, SIGHT).add_counts(sentences[1:], np.ones(1), counts)
    for found in tables["quickly"].emission_counts(counts["quickly"]):
        assert (found[[0, -1]].sum() == 0) == tables["quickly"].word.follows
        assert found[1].sum() > 0
