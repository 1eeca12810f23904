"""Words and pictures together: a small index of drawn films, and weights set from data."""

import numpy as np
import pytest

from wordsight.retrieval import (
    Document,
    DocumentSource,
    Index,
    IndexWriter,
    RetrievalError,
    VisualSettings,
)
from wordsight.retrieval.joint import (
    DEFAULT_WEIGHT,
    JointQuery,
    JointSearch,
    fit_slope,
    joint_weight,
    weigh_evidence,
)
from wordsight.retrieval.text import TEXT, Analyser, TextPart
from wordsight.retrieval.visual import FeatureScale, VisualPart
from wordsight.retrieval.visual.part import VISUAL, source_samples

COLOURS = {"red": (200, 40, 40), "green": (40, 180, 60), "blue": (40, 60, 200)}


def picture(colour, seed):
    rng = np.random.default_rng(seed)
    image = rng.integers(100, 140, (96, 128, 3)).astype(np.uint8)
    image[24:72, 32:96] = np.clip(
        np.array(COLOURS[colour]) + rng.integers(-8, 9, (48, 64, 3)), 0, 255
    )
    return image


def film(name, colours, captions, seed):
    return [
        DocumentSource(
            Document(f"{name}:{n}", name, float(n), n + 1.0, n + 0.5, 0),
            (said,),
            (),
            (picture(colour, seed + n),),
            (n + 0.5,),
        )
        for n, (colour, said) in enumerate(zip(colours, captions, strict=True))
    ]


def indexed(folder, films):
    settings = VisualSettings(num_components=3)
    every = [source for shots in films.values() for source in shots]
    bags = [source_samples(source, settings).values for source in every]
    settings = settings.with_scale(FeatureScale.measure(bags, settings.features().resolution))
    analyser = Analyser()
    kept = {VISUAL: settings.to_json(), TEXT: analyser.to_json()}
    with IndexWriter(folder, [VisualPart(settings), TextPart(analyser)], kept) as writer:
        writer.add_many({name: ("1", shots) for name, shots in films.items()})
    return Index(folder)


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Two films of three shots: what is said of one does not always fit what it shows."""
    films = {
        "a": film("a", ["red", "green", "blue"], ["a ball", "a cube", "a ball rolls"], 0),
        "b": film("b", ["red", "red", "green"], ["a cube", "a cup", "a cup falls"], 10),
    }
    return indexed(tmp_path_factory.mktemp("index"), films)


def asked(search, text=None, colour=None):
    words = search.text.query(text) if text else None
    samples = None
    if colour:
        samples = search.index.visual.features.samples(picture(colour, 99))
    return JointQuery(words, samples)


def ids(hits):
    return [hit.document.id for hit in hits]


def test_words_alone(index):
    search = JointSearch(index)
    hits = search.search(asked(search, "cups"))
    assert set(ids(hits)[:2]) == {"b:1", "b:2"}
    assert ids(hits)[2:] == ["b:0"]  # says nothing of a cup, but belongs to a film that does
    assert all(hit.visual is None and hit.text > 0 for hit in hits[:2])


def test_a_picture_alone(index):
    search = JointSearch(index)
    hits = search.search(asked(search, colour="blue"), 3)
    assert ids(hits)[0] == "a:2"
    assert hits[0].visual > max(hit.visual for hit in hits[1:])


def test_a_picture_alone_ranks_as_its_models_do(index):
    search = JointSearch(index)
    query = asked(search, colour="green")
    plain = index.visual.search(query.samples.values, 6)
    hits = search.search(query, 6)
    assert ids(hits) == [hit.document.id for hit in plain]
    gaps = [hit.score - other.score for hit, other in zip(hits, plain, strict=True)]
    assert gaps == pytest.approx([gaps[0]] * 6)


def test_both_find_what_neither_does(index):
    search = JointSearch(index, weight=0.6)
    assert ids(search.search(asked(search, "cup", "green")))[0] == "b:2"
    assert ids(search.search(asked(search, "cube", "green")))[0] == "a:1"


def test_the_score_is_the_sum_of_its_parts(index):
    search = JointSearch(index, weight=0.4)
    for hit in search.search(asked(search, "red ball", "red")):
        assert hit.score == pytest.approx(0.6 * hit.text + 0.4 * hit.visual)
        assert sum(term.evidence for term in hit.terms) / 2 == pytest.approx(hit.text)
        regions = np.mean([region.evidence for region in hit.regions])
        assert regions == pytest.approx(hit.visual, abs=0.35)  # ninths hold different numbers
        assert len(hit.regions) == 9


def test_what_is_excluded_is_not_found(index):
    search = JointSearch(index)
    query = asked(search, colour="blue")
    hits = search.search(JointQuery(None, query.samples, frozenset({2})), 6)
    assert "a:2" not in ids(hits)
    assert len(hits) == 5


def test_nothing_here(index):
    search = JointSearch(index)
    assert search.search(asked(search, "zebra")) == []
    assert len(search.search(asked(search, "zebra"), everything=True)) == 6


def test_nothing_asked(index):
    with pytest.raises(RetrievalError, match="query is empty"):
        JointSearch(index).search(JointQuery())
    with pytest.raises(RetrievalError, match="between 0 and 1"):
        JointSearch(index, weight=2.0)


class TestWeight:
    def test_the_slope_is_the_best_predictor(self):
        rng = np.random.default_rng(0)
        visual = rng.normal(size=(60, 30))
        for slope in (0.0, 0.5, 3.0):
            targets = np.exp(slope * visual)
            targets /= targets.sum(axis=1, keepdims=True)
            assert fit_slope(visual, targets) == pytest.approx(slope, abs=0.02)

    def test_too_little_to_learn_from(self, index):
        assert joint_weight(index) == DEFAULT_WEIGHT
        assert joint_weight(index) == DEFAULT_WEIGHT  # as it was kept

    def test_a_picture_counts_as_far_as_it_goes_with_the_words(self, tmp_path):
        weights = {}
        for related in (True, False):
            films = {}
            for n in range(18):
                colour = list(COLOURS)[n % 3]
                said = f"topic{n % 3 if related else n % 5} thing{n}"
                films[f"f{n}"] = film(f"f{n}", [colour], [said], 10 * n)
            weights[related] = joint_weight(indexed(tmp_path / str(related), films))
        assert weights[True] > 5 * weights[False]

    def test_it_falls_back_to_the_better_of_both(self):
        rng = np.random.default_rng(0)
        kinds = np.arange(40) % 4
        alike = np.array([kinds == kind for kind in kinds], float)
        targets = alike / alike.sum(axis=1, keepdims=True)
        noise = rng.normal(size=alike.shape)
        clear, faint = alike + 0.1 * noise, alike + 1.5 * noise
        assert weigh_evidence(clear, noise, targets) < 1e-4
        assert weigh_evidence(clear, clear, targets, covered=0.7) > 1 - 1e-4
        assert 1e-3 < weigh_evidence(clear, faint, targets) < 0.9
