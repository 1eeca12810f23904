"""Pictures from words and back, through pairs."""

import numpy as np
import pytest

from experiments.baselines.paired import PairedModels
from wordsight.errors import RetrievalError


def pairs(rng, count, topics):
    """Draw pairs whose picture and text come from one of five topics each."""
    looks, words = topics
    which = rng.integers(0, len(looks), count)
    pictures = np.stack([rng.multinomial(60, looks[t]) for t in which])
    texts = np.stack([rng.multinomial(25, words[t]) for t in which])
    return which, pictures, texts


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(30, 0.3), 5), rng.dirichlet(np.full(40, 0.3), 5)
    return pairs(rng, 200, topics), pairs(rng, 60, topics)


def test_finds_what_belongs_together(data):
    (_, pictures, texts), (topic, new_pictures, new_texts) = data
    scores = PairedModels().fit(pictures, texts).scores(new_pictures, new_texts)
    assert (topic[scores.argmax(axis=1)] == topic).mean() > 0.9
    assert (topic[scores.argmax(axis=0)] == topic).mean() > 0.9


def test_against_the_formula_written_out():
    pictures, texts = np.array([[3, 1], [0, 2]]), np.array([[1, 0, 1], [0, 2, 0]])
    model = PairedModels(4.0, 3.0, 0.6, 0.5).fit(pictures, texts)
    score = model.scores([[1, 1]], [[0, 1, 1]])[0, 0]

    def likelihoods(table, given, mass, share):
        own = table / table.sum(axis=1, keepdims=True)
        mixed = share * own + (1 - share) * (own.mean(axis=0) + 1e-9)
        return np.prod(mixed ** (mass * np.array(given) / sum(given)), axis=1)

    seen = likelihoods(pictures, [1, 1], 4.0, 0.6)
    heard = likelihoods(texts, [0, 1, 1], 3.0, 0.5)
    joint = (seen * heard).mean() / (seen.mean() * heard.mean())
    assert score == pytest.approx(np.log(joint))


def test_scale_does_not_matter(data):
    (_, pictures, texts), (_, new, said) = data
    model = PairedModels().fit(pictures, texts)
    assert model.scores(new * 7, said) == pytest.approx(model.scores(new, said))


@pytest.mark.parametrize(
    ("pictures", "texts"),
    [
        ([[1.0, 0.0]], [[1.0], [1.0]]),  # a text too many
        (np.zeros((0, 2)), np.zeros((0, 2))),  # nothing
        ([[1.0, -1.0]], [[1.0]]),  # counts below 0
        ([[np.nan, 1.0]], [[1.0]]),
        ([1.0, 2.0], [[1.0]]),  # no table
    ],
)
def test_what_cannot_be_learned_from(pictures, texts):
    with pytest.raises(RetrievalError):
        PairedModels().fit(pictures, texts)


def test_senseless_settings():
    with pytest.raises(RetrievalError):
        PairedModels(picture_mass=0)
    with pytest.raises(RetrievalError):
        PairedModels(text_share=1.0)
