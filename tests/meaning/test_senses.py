"""Verbs with two senses: sums over both, found where they are there, kept, and shown."""

import json

import numpy as np
import pytest

from tests.meaning.plays import LEXICON, play, said, troupe
from tests.meaning.test_compounds import WORDS
from tests.meaning.test_learner import QUICK, same_words
from tests.meaning.test_scorers import SIGHT, small
from wordsight.errors import FormatError
from wordsight.language import Lexicon, parse
from wordsight.meaning import LearnedLexicon, WordLearner
from wordsight.meaning.features import get_feature_set, learn_vocabulary, observe, view_clip
from wordsight.meaning.model.wording import looks_for, plot_word, word_page
from wordsight.meaning.scoring.scorer import make_scorer
from wordsight.meaning.scoring.tables import word_tables
from wordsight.meaning.training.corpus import background_distributions, build_corpus, initial_words
from wordsight.meaning.training.em import zero_counts
from wordsight.meaning.training.senses import SenseTest, with_senses

HOMONYM = Lexicon(tuple(entry for entry in LEXICON if entry.name != "lowered"))
"""Where "lifted" is also said of what is lowered."""
SETTINGS = QUICK | {"discriminative": None, "senses": True}


def one_verb(count, seed=0):
    clips, sentences = troupe(count, seed=seed)
    return clips, [text.replace("lowered", "lifted") for text in sentences]


@pytest.fixture(scope="module")
def learner():
    return WordLearner(**SETTINGS).fit(*one_verb(36), lexicon=HOMONYM)


def shaken(word, rng):
    """Return the emissions of a word with noise."""
    tables = [table * np.exp(rng.standard_normal(table.shape)) for table in word.emissions]
    return tuple(table / table.sum(axis=1, keepdims=True) for table in tables)


@pytest.mark.parametrize("frames", [3, 2], ids=["long", "shorter than a sense"])
@pytest.mark.parametrize("tracked", [True, False], ids=["tracks", "boxes"])
def test_a_word_of_two_senses_is_the_mean_of_both(tracked, frames):
    clip = small(tracked).part(0.0, (frames - 0.5) / 6.0)
    view, features = view_clip(clip, rate=None), get_feature_set("recommended")
    vocabulary = learn_vocabulary([view], features)
    seen = observe(view, vocabulary)
    sentence = parse("The person lifted the ball quickly towards the crate.", WORDS)
    corpus = build_corpus([seen], [[sentence]], WORDS, candidates=[[]])
    rng = np.random.default_rng(1)
    words = initial_words(corpus, features, vocabulary, rng, presence=False)
    background = background_distributions([seen], vocabulary)
    senses = [shaken(words["lifted"], rng) for _ in range(2)]

    def tables(*emissions):
        changed = words | {"lifted": with_senses(words["lifted"], emissions)}
        return {e: word_tables(w, vocabulary, background) for e, w in changed.items()}

    phases = words["lifted"].num_states
    both = make_scorer(seen, tables(*senses), SIGHT)
    value = both.log_ratios([sentence])[0]
    apart = [make_scorer(seen, tables(one), SIGHT).log_ratios([sentence])[0] for one in senses]
    assert value == pytest.approx(np.logaddexp(*apart) - np.log(2), abs=1e-9)
    posteriors = dict(
        zip([w.entry for w in sentence.words], both.posteriors(sentence)[1], strict=True)
    )
    assert posteriors["lifted"].shape[-1] == 2 * phases
    assert posteriors["quickly"].shape[-1] == posteriors["towards"].shape[-1] == phases
    first = posteriors["lifted"][0].reshape(-1, 2, phases).sum(axis=(0, 2))
    assert first == pytest.approx(np.exp(np.array(apart) - value) / 2, abs=1e-9)
    counts = zero_counts(tables(*senses))
    both.add_counts([sentence], np.ones(1), counts)
    assert counts["quickly"].singles[0].shape[-1] == phases
    states = dict(zip(posteriors, both.best_path(sentence).states.T, strict=True))
    assert np.array_equal(states["lifted"] % phases, states["quickly"])
    assert len({state // phases for state in states["lifted"]}) == 1  # no step between senses
    assert np.isfinite(both.evidence(sentence, 100)).all()


def test_two_senses_are_found_where_a_verb_is_said_of_two_kinds_of_events(learner):
    words = learner.lexicon_.words
    assert {entry: word.senses for entry, word in words.items() if word.senses > 1} == {"lifted": 2}
    assert "lifted" in str(learner.lexicon_.notes["second_senses"])
    counts = []
    for verb in ("lifted", "lowered"):
        for seed in range(4):
            seen = learner.lexicon_.observe(play(verb, "ball", seed=900 + seed))
            sentence = learner.lexicon_.sentence("The person lifted the ball.")
            states = learner.lexicon_.scorer(seen).best_path(sentence).states
            verb_states = states[:, [w.entry for w in sentence.words].index("lifted")]
            counts.append((verb, int(verb_states[0]) // words["lifted"].num_phases))
    assert len(set(counts)) == 2  # each kind of event has a sense of its own


def test_a_second_sense_that_explains_no_more_is_not_kept():
    verbs = ("lifted", "lowered")
    clips = [play(verbs[n % 2], "ball", seed=n) for n in range(24)]
    texts = [said(verbs[n % 2], "ball") for n in range(24)]
    learned = WordLearner(**SETTINGS).fit(clips, texts, lexicon=LEXICON).lexicon_
    assert "lifted" in str(learned.notes["second_senses"]) and learned["lifted"].senses == 1
    few = WordLearner(**SETTINGS).fit(*one_verb(9), lexicon=HOMONYM).lexicon_
    assert all(word.senses == 1 for word in few.words.values())  # not even asked about
    assert "no verb has enough clips" in str(few.notes["second_senses"])


def test_a_second_sense_must_be_better_than_chance_explains():
    assert SenseTest("handled", 0.5, 0.2).is_split
    assert not SenseTest("handled", 0.3, 0.2).is_split
    assert not SenseTest("handled", -0.5, 0.1).is_split
    assert not SenseTest("handled", float("nan"), float("nan")).is_split


def test_senses_are_saved_and_shown(learner, tmp_path):
    learner.lexicon_.save(tmp_path / "words")
    loaded = LearnedLexicon.load(tmp_path / "words")
    assert same_words(loaded, learner.lexicon_) and loaded["lifted"].senses == 2
    clip = play("lowered", seed=77)
    text = "The person lifted the ball."
    assert loaded.score(clip, text).score == learner.lexicon_.score(clip, text).score
    assert "; or " in looks_for(loaded, "lifted") and "; or " not in looks_for(loaded, "approached")
    page = word_page(loaded, "lifted")
    assert "2 senses" in page and "sense 1" in page and "sense 2" in page
    assert "second senses" in (tmp_path / "words" / "card.md").read_text(encoding="utf-8")
    assert "2 senses" in plot_word(loaded, "lifted").get_suptitle()
    model = tmp_path / "words" / "model.json"
    values = json.loads(model.read_text(encoding="utf-8"))
    assert values["version"] == 4  # programs that know one sense only refuse it
    for senses in (0, 5, "two", 1e9):
        changed = [row | {"senses": senses} if "senses" in row else row for row in values["words"]]
        model.write_text(json.dumps(values | {"words": changed}), encoding="utf-8")
        with pytest.raises(FormatError):
            LearnedLexicon.load(tmp_path / "words")


@pytest.mark.parametrize("step", ["restart 1, iteration 7", "restart 2, iteration 6", "epoch 1"])
def test_learning_with_senses_goes_on_from_a_checkpoint(step, tmp_path):
    clips, sentences = one_verb(36)
    settings = SETTINGS | {"discriminative": "gradient"}
    done: list[str] = []

    class Killed(Exception):
        pass

    def kill(steps, total, what):
        done.append(what)
        assert steps <= total
        if what == step:
            raise Killed

    learner = WordLearner(**settings)
    where = {"lexicon": HOMONYM, "checkpoint": tmp_path / "state.npz"}
    with pytest.raises(Killed):
        learner.fit(clips, sentences, progress=kill, **where)
    resumed = learner.fit(clips, sentences, **where).lexicon_
    whole = WordLearner(**settings).fit(clips, sentences, lexicon=HOMONYM).lexicon_
    assert resumed["lifted"].senses == 2 and same_words(resumed, whole)
    assert resumed.notes == whole.notes
