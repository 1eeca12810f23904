r"""`JointSearch`: search by words and pictures together, with the evidence of each.

A picture has a thousand samples and a query a handful of words; summed as they are, the picture
would always dominate. Both are therefore divided by the number of observations:

$$\frac{\mu}{|V|}\log\frac{p(V|\theta)}{p(V)}+\frac{1-\mu}{|q|}\log\frac{P(q|\phi)}{P(q)}$$

The weight $\mu$ of the picture is learned by maximising the likelihood of the relevant documents
(a softmax of the joint score). The training queries come from the collection itself: the words and
the look of a shot should retrieve the other shots of its scene.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.retrieval.documents import Document, top_k
from wordsight.retrieval.errors import RetrievalError
from wordsight.retrieval.index.segments import keep_learned
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.feedback import more_like_this
from wordsight.retrieval.text.index import TextIndex
from wordsight.retrieval.text.model import LanguageModel, TermEvidence
from wordsight.retrieval.text.smoothing import JelinekMercer
from wordsight.retrieval.visual.index import SINGLE_ERROR

if TYPE_CHECKING:
    from wordsight.retrieval.index.reader import Index
    from wordsight.retrieval.visual.features import Samples

__all__ = [
    "DEFAULT_WEIGHT",
    "JointHit",
    "JointQuery",
    "JointSearch",
    "RegionEvidence",
    "fit_joint_weight",
    "joint_weight",
]

DEFAULT_WEIGHT = 0.25
"""Share of the picture before anything is learned: words are usually the stronger evidence."""

MANY_DOCUMENTS = 100_000
"""Above this size, a picture is compared with candidates instead of every document."""

Array = NDArray[np.float64]
_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")

_WEIGHT_FILE = "joint-weight.json"
_TRAINING_QUERIES = 60
_TRAINING_DOCUMENTS = 1500  # candidates per query; more would only take longer
_TRAINING_SAMPLES = 150
_LEAST_WEIGHT = 0.05
_RIDGE = 0.05  # uninformative evidence gets no weight
_FEWEST_QUERIES = 8  # fewer are not enough to overrule the default


@dataclass(frozen=True)
class JointQuery:
    """A query of words, samples of pictures, or both.

    Attributes:
        text: The words, if any.
        samples: Samples of the example pictures, if any; without boxes (all 0), hits have no
            regions.
        exclude: Positions of documents to leave out, such as the example itself.
    """

    text: TextQuery | None = None
    samples: "Samples | None" = None
    exclude: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class RegionEvidence:
    """The evidence of one region of the example picture for a document.

    Attributes:
        place: Its place in the picture, such as ``top left``.
        box: Corners x1, y1, x2, y2 in pixels.
        evidence: Mean log likelihood ratio of its samples, document against collection.
    """

    place: str
    box: tuple[float, float, float, float]
    evidence: float


@dataclass(frozen=True)
class JointHit:
    """A document in a ranking, with the evidence for it.

    Attributes:
        document: The document.
        score: Its joint score.
        position: Its position in the index.
        text: Evidence of the words, per word; ``None`` without words.
        visual: Evidence of the picture, per sample, above 0 where the document explains it better
            than the collection does; ``None`` without a picture.
        terms: Evidence of each word, strongest first.
        regions: Evidence of each ninth of the picture, strongest first.
    """

    document: Document
    score: float
    position: int
    text: float | None
    visual: float | None
    terms: tuple[TermEvidence, ...]
    regions: tuple[RegionEvidence, ...]


class JointSearch:
    """Searches an index by words and pictures.

    Args:
        index: The index.
        weight: Share of the picture in queries with both, from 0 to 1.
        exact: Whether a picture without words is compared with every document; otherwise a few of
            its samples choose candidates, and a document may be missed. By default it is, up to
            100,000 documents. With words it always is.
    """

    def __init__(
        self, index: "Index", weight: float = DEFAULT_WEIGHT, exact: bool | None = None
    ) -> None:
        if not 0 <= weight <= 1:
            raise RetrievalError(f"the picture's weight must be between 0 and 1, got {weight}.")
        self.index = index
        self.text = TextIndex.open(index)
        self.weight = weight
        self.exact = len(index) <= MANY_DOCUMENTS if exact is None else exact

    def text_evidence(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Return ``(N,)`` the evidence of the words, per word, and which documents match any."""
        scores, matched = self.text.model.scores(query)
        return scores / max(query.length, 1e-12), matched

    def visual_evidence(self, samples: "Samples") -> Array:
        """Return ``(N,)`` log likelihood ratios of samples, per sample, against the collection.

        In single precision, accurate to about 1e-5; :meth:`search` repeats the best in double.
        """
        if not len(self.index):
            return np.zeros(0)
        scores = self.index.visual.score(samples.values, precision="single")
        return scores - self._unrelated_score(samples)

    def _unrelated_score(self, samples: "Samples") -> float:
        """Return the score of a document that is as likely as the collection."""
        visual, first = self.index.visual, np.zeros(1, np.int64)
        # The evidence of any document, subtracted from its score, leaves the common constant.
        evidence = float(visual.region_evidence(samples.values, 0).mean())
        own = evidence + float(np.log1p(-visual.settings.kappa))
        return float(visual.score_subset(samples.values, first)[0]) - own

    def search(self, query: JointQuery, k: int = 10, *, everything: bool = False) -> list[JointHit]:
        """Return the best documents.

        A query of words alone returns only documents with at least one of them. A picture always
        ranks all documents; ``visual`` of a hit says whether it is similar at all.

        Args:
            query: The query.
            k: Maximum number of hits.
            everything: Whether to include documents without any of the words.

        Raises:
            RetrievalError: If the query is empty.
        """
        samples = query.samples
        if query.text is None and samples is None:
            raise RetrievalError("the query is empty; give words, a picture or both.")
        if samples is not None and not query.text and not self.exact:
            return self._search_candidates(query, samples, k)
        text, visual = None, None
        scores = np.zeros(len(self.index))
        if samples is not None:
            visual = self.visual_evidence(samples)
            scores += visual * self._picture_share(query)
        if query.text is not None:
            text, matched = self.text_evidence(query.text)
            scores += text * (1 - self._picture_share(query) if samples is not None else 1.0)
            if samples is None and not everything:
                scores[~matched] = -np.inf
        scores[list(query.exclude)] = -np.inf
        if not len(scores):
            return []
        if samples is not None and visual is not None:
            self._refine(samples, scores, visual, self._picture_share(query), k)
        return [
            self._hit(
                at,
                float(scores[at]),
                query,
                None if text is None else float(text[at]),
                None if visual is None else float(visual[at]),
            )
            for at in top_k(scores, k, self.index.documents.id_of).tolist()
        ]

    def _search_candidates(self, query: JointQuery, samples: "Samples", k: int) -> list[JointHit]:
        """Choose candidates by a few of the samples, and score only those in full."""
        visual = self.index.visual
        count = visual.num_candidates(k) + len(query.exclude)
        candidates = visual.candidates(samples.values, count)
        candidates = candidates[~np.isin(candidates, list(query.exclude))]
        if not len(candidates):
            return []
        scores = visual.score_subset(samples.values, candidates) - self._unrelated_score(samples)
        order = top_k(scores, k, lambda at: self.index.documents.id_of(int(candidates[at])))
        best = [(int(candidates[at]), float(scores[at])) for at in order]
        return [self._hit(at, score, query, None, score) for at, score in best]

    def _picture_share(self, query: JointQuery) -> float:
        return self.weight if query.text else 1.0

    def _refine(
        self, samples: "Samples", scores: Array, visual: Array, share: float, k: int
    ) -> None:
        """Repeat in double precision the scores that may be among the best."""
        least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
        likely = np.flatnonzero((scores >= least - SINGLE_ERROR) & np.isfinite(scores))
        if not len(likely):
            return
        exact = self.index.visual.score_subset(samples.values, likely)
        exact = exact - self._unrelated_score(samples)
        scores[likely] += share * (exact - visual[likely])
        visual[likely] = exact

    def _hit(
        self, at: int, score: float, query: JointQuery, text: float | None, visual: float | None
    ) -> JointHit:
        return JointHit(
            self.index.documents[at],
            score,
            at,
            text,
            visual,
            () if query.text is None else self.text.model.explain(query.text, at),
            () if query.samples is None else self._regions(query.samples, at),
        )

    def _regions(self, samples: "Samples", at: int) -> tuple[RegionEvidence, ...]:
        if not samples.boxes.any():
            return ()
        visual = self.index.visual
        evidence = visual.region_evidence(samples.values, at)
        evidence = evidence + np.log1p(-visual.settings.kappa)
        return tuple(sorted(_ninths(samples.boxes, evidence), key=lambda each: -each.evidence))


def _ninths(boxes: Array, evidence: Array) -> Iterable[RegionEvidence]:
    """Average the evidence of samples over a 3 x 3 grid."""
    low, high = boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)
    size = np.maximum((high - low) / 3, 1e-9)
    middle = (boxes[:, :2] + boxes[:, 2:]) / 2
    cells = np.clip(((middle - low) / size).astype(int), 0, 2)
    for column, row in np.unique(cells, axis=0).tolist():
        here = (cells == [column, row]).all(axis=1)
        corner = low + size * np.array([column, row])
        box = (*corner.tolist(), *(corner + size).tolist())
        name = f"{_ROWS[row]} {_COLUMNS[column]}"
        yield RegionEvidence(name, box, float(evidence[here].mean()))


def fit_joint_weight(text: Array, visual: Array, relevant: NDArray[np.bool_]) -> float:
    """Find the weight of the picture that maximises the likelihood of the relevant documents.

    Args:
        text: ``(Q, N)`` evidence of the words, per word.
        visual: ``(Q, N)`` evidence of the picture, per sample; ``-inf`` excludes a document.
        relevant: ``(Q, N)`` which documents are relevant, at least one per query.

    Returns:
        The weight, from 0 to 1.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    included = np.isfinite(visual)
    visual = np.where(included, visual, 0.0)

    def loss(weights: Array) -> tuple[float, Array]:
        scores = np.where(included, weights[0] * text + weights[1] * visual, -np.inf)
        total = logsumexp(scores, axis=1)
        hit = logsumexp(np.where(relevant, scores, -np.inf), axis=1)
        expected = np.exp(scores - total[:, None])
        observed = np.where(relevant, np.exp(scores - hit[:, None]), 0.0)
        difference = expected - observed
        slope = np.array([(difference * text).sum(), (difference * visual).sum()])
        penalty = _RIDGE / 2 * weights @ weights
        return float((total - hit).sum() + penalty), slope + _RIDGE * weights

    # Both are evidence: neither may count against a document.
    weights = minimize(loss, np.ones(2), jac=True, bounds=[(0.0, 1e3)] * 2, method="L-BFGS-B").x
    return float(weights[1] / weights.sum()) if weights.sum() > 0 else DEFAULT_WEIGHT


def joint_weight(index: "Index", *, random_state: int = 0) -> float:
    """Return the weight of the picture for an index, learned from its scenes once per change.

    Collections whose scenes have too few words to learn from get the default.
    """

    def parse(weight: float) -> float:
        if not 0 <= float(weight) <= 1:
            raise ValueError(f"a weight of {weight}")
        return float(weight)

    return keep_learned(
        index.folder / _WEIGHT_FILE,
        index.generation,
        "weight",
        lambda: _learn_weight(index, np.random.default_rng(random_state)),
        parse,
    )


def _learn_weight(index: "Index", rng: np.random.Generator) -> float:
    # Without the levels of scene and video, which contain the words of the example itself.
    words = LanguageModel(TextIndex.open(index).model.shards, JelinekMercer())
    examples = _training_examples(index, words, rng)
    if len(examples) < _FEWEST_QUERIES:
        return DEFAULT_WEIGHT
    pool = np.sort(rng.permutation(len(index))[:_TRAINING_DOCUMENTS])
    texts, visuals, relevant = [], [], []
    for example, same_scene in examples:
        others = np.setdiff1d(pool, same_scene, assume_unique=True)
        documents = np.concatenate([same_scene, others])[: len(pool)]
        query = more_like_this(words, example)
        texts.append(words.scores(query)[0][documents] / query.length)
        visual = index.visual.score_subset(_model_samples(index, example, rng), documents)
        visuals.append(np.where(documents == example, -np.inf, visual))
        relevant.append(np.isin(documents, same_scene))
    weight = fit_joint_weight(np.stack(texts), np.stack(visuals), np.stack(relevant))
    # In a query with both, both should count at least a little.
    return float(np.clip(weight, _LEAST_WEIGHT, 1 - _LEAST_WEIGHT))


def _training_examples(
    index: "Index", words: LanguageModel, rng: np.random.Generator
) -> list[tuple[int, Sequence[int]]]:
    """Choose shots with words, each with the other shots of its scene."""
    videos, _ = index.documents.video_numbers()
    scenes = videos * (int(index.documents.scenes().max(initial=0)) + 1) + index.documents.scenes()
    examples = []
    for at in rng.permutation(np.flatnonzero(words.lengths > 0)).tolist():
        scene = np.flatnonzero(scenes == scenes[at])
        if len(scene) > 1 and more_like_this(words, at):
            examples.append((at, scene[scene != at].tolist()))
        if len(examples) == _TRAINING_QUERIES:
            break
    return examples


def _model_samples(index: "Index", at: int, rng: np.random.Generator) -> Array:
    """Draw samples from the model of a shot, on the scale of its features."""
    values, _ = index.visual.model(at).draw(0, _TRAINING_SAMPLES, rng)
    return index.visual.settings.require_scale().restore(values)
