r"""`JointSearch`: search by words and pictures together, with the evidence of each.

A picture has a thousand samples and a query a handful of words; summed as they are, the picture
would always dominate. Both are therefore divided by the number of observations:

$$\frac{\mu}{|V|}\log\frac{p(V|\theta)}{p(V)}+\frac{1-\mu}{|q|}\log\frac{P(q|\phi)}{P(q)}$$

What the picture counts, $\mu$, is learned from the collection without judgements. Both kinds of
evidence are asked to predict which documents probably have the words of one of them: the words,
whose smoothing ranks well but is far too unsure, and the picture, whose samples are far from
independent. Each counts as much as makes it the best predictor, and the picture the more the more
it can be relied on: by how often the document nearest to a picture has its words, beyond chance. If
that is no more than chance the words decide alone; if it is more often than documents have words
at all, the picture does. The other kind then decides among equals.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import RetrievalError
from wordsight.inference.numba_support import one_blas_thread
from wordsight.retrieval.documents import Document, top_k
from wordsight.retrieval.index.segments import keep_learned
from wordsight.retrieval.text.analysis import TextQuery
from wordsight.retrieval.text.feedback import more_like_this
from wordsight.retrieval.text.index import TextIndex
from wordsight.retrieval.text.model import LanguageModel, TermEvidence
from wordsight.retrieval.text.smoothing import JelinekMercer, TwoStage
from wordsight.retrieval.visual.index import SINGLE_ERROR

if TYPE_CHECKING:
    from wordsight.retrieval.index.reader import Index
    from wordsight.retrieval.visual.features import Samples
    from wordsight.retrieval.visual.stills import Sighting, SoughtPicture

__all__ = [
    "DEFAULT_WEIGHT",
    "JointHit",
    "JointQuery",
    "JointSearch",
    "RegionEvidence",
    "fit_slope",
    "joint_weight",
    "picture_reliability",
    "weigh_evidence",
]

DEFAULT_WEIGHT = 0.25
"""Share of the picture before anything is learned: words are usually the stronger evidence."""

MANY_DOCUMENTS = 100_000
"""Above this size, a picture is compared with candidates instead of every document."""

SIGHTED_DOCUMENTS = 200
"""Documents in whose stills a picture is looked for: the best by their models."""

SIGHTING_WEIGHT = 10.0
"""What a nat of a sighting counts, beside one of the models: pixels are far more telling."""

Array = NDArray[np.float64]
_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")

_WEIGHT_FILE = "joint-weight.json"
_TRAINING_QUERIES = 60
_TRAINING_DOCUMENTS = 1500  # candidates per query; more would only take longer
_TRAINING_SAMPLES = 150
_LEAST_WEIGHT = 1e-5  # enough to decide among documents that are equal otherwise
_ERRORS = 2.5  # standard errors by which a picture must be more reliable than chance
_RIDGE = 0.05  # uninformative evidence gets no weight
_LARGEST_SLOPE = 100.0  # for evidence with a standard deviation of 1
_FEWEST_QUERIES = 8  # fewer are not enough to overrule the default


@dataclass(frozen=True)
class JointQuery:
    """A query of words, samples of pictures, or both.

    Attributes:
        text: The words, if any.
        samples: Samples of the example pictures, if any; without boxes (all 0), hits have no
            regions.
        exclude: Positions of documents to leave out, such as the example itself.
        picture: The example picture, if there is one, to be found in small frames of the shots.
    """

    text: TextQuery | None = None
    samples: "Samples | None" = None
    exclude: frozenset[int] = field(default_factory=frozenset)
    picture: "SoughtPicture | None" = None


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
        sighting: Where the picture fits best; ``None`` with words, and where it was not looked for.
        looks: What blocks alone and a network alone say of the picture, per sample, in an index
            that has both.
    """

    document: Document
    score: float
    position: int
    text: float | None
    visual: float | None
    terms: tuple[TermEvidence, ...]
    regions: tuple[RegionEvidence, ...]
    sighting: "Sighting | None" = None
    looks: tuple[tuple[str, float], ...] = ()


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

    def learned_weight(self) -> float:
        """Return the share of the picture beside words that was learned from the collection."""
        return joint_weight(self.index)

    def text_evidence(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Return ``(N,)`` the evidence of the words, per word, and which documents match any."""
        scores, matched = self.text.model.scores(query)
        scores /= max(query.length, 1e-12)
        return scores, matched

    def visual_evidence(self, samples: "Samples") -> Array:
        """Return ``(N,)`` log likelihood ratios of samples, per sample, against the collection.

        In single precision, accurate to about 1e-5; :meth:`search` repeats the best in double.
        """
        if not len(self.index):
            return np.zeros(0)
        scores = self.index.visual.score(samples.values, precision="single")
        return scores - self.index.visual.unrelated_score(samples.values)

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
        if query.text is not None and samples is None and not everything:
            return self._search_words(query, query.text, k)
        text, visual = None, None
        scores = np.zeros(len(self.index))
        if samples is not None:
            visual = self.visual_evidence(samples)
            scores += visual * self._picture_share(query)
        if query.text is not None:
            text, _ = self.text_evidence(query.text)
            scores += text * (1 - (0.0 if samples is None else self._picture_share(query)))
        scores[list(query.exclude)] = -np.inf
        if not len(scores):
            return []
        looked_for = query.picture is not None and not query.text
        likely = max(k, SIGHTED_DOCUMENTS) if looked_for else k
        if samples is not None and visual is not None:
            self._refine(samples, scores, visual, self._picture_share(query), likely)
        sightings: dict[int, Sighting] = {}
        if looked_for:
            sightings = self._sight(query, scores)
        best = top_k(scores, k, self.index.documents.id_of).tolist()
        terms = [()] * len(best) if not query.text else self.text.model.explain(query.text, best)
        return [
            self._hit(
                at,
                float(scores[at]),
                query,
                None if text is None else float(text[at]),
                None if visual is None else float(visual[at]),
                sightings.get(at),
                evidence,
            )
            for at, evidence in zip(best, terms, strict=True)
        ]

    def _search_words(self, query: JointQuery, text: TextQuery, k: int) -> list[JointHit]:
        """Rank the documents with any of the words by these alone."""
        documents, scores = self.text.model.best(text, k, query.exclude)
        scores = scores / max(text.length, 1e-12)
        order = top_k(scores, k, lambda at: self.index.documents.id_of(int(documents[at])))
        best, values = documents[order].tolist(), scores[order].tolist()
        return [
            self._hit(at, score, query, score, None, terms=terms)
            for at, score, terms in zip(
                best, values, self.text.model.explain(text, best), strict=True
            )
        ]

    @one_blas_thread()
    def _search_candidates(self, query: JointQuery, samples: "Samples", k: int) -> list[JointHit]:
        """Choose candidates by a few of the samples, and score only those in full."""
        visual = self.index.visual
        count = visual.num_candidates(k) + len(query.exclude)
        candidates = visual.candidates(samples.values, count)
        candidates = candidates[~np.isin(candidates, list(query.exclude))]
        if not len(candidates):
            return []
        scores = visual.score_subset(
            samples.values, candidates
        ) - self.index.visual.unrelated_score(samples.values)
        totals = np.full(len(self.index), -np.inf)
        sightings: dict[int, Sighting] = {}
        totals[candidates] = scores
        visual_scores = dict(zip(candidates.tolist(), scores.tolist(), strict=True))
        if query.picture is not None:
            sightings = self._sight(query, totals)
        return [
            self._hit(at, float(totals[at]), query, None, visual_scores[at], sightings.get(at))
            for at in top_k(totals, min(k, len(candidates)), self.index.documents.id_of).tolist()
        ]

    def _sight(self, query: JointQuery, scores: Array) -> "dict[int, Sighting]":
        """Look for the picture in stills of the best documents, and add to their scores."""
        assert query.picture is not None
        best = top_k(scores, SIGHTED_DOCUMENTS, self.index.documents.id_of)
        sightings = self.index.stills.find(query.picture, best[np.isfinite(scores[best])])
        for at, sighting in sightings.items():
            scores[at] += SIGHTING_WEIGHT * sighting.evidence
        return sightings

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
        exact = exact - self.index.visual.unrelated_score(samples.values)
        scores[likely] += share * (exact - visual[likely])
        visual[likely] = exact

    def _hit(
        self,
        at: int,
        score: float,
        query: JointQuery,
        text: float | None,
        visual: float | None,
        sighting: "Sighting | None" = None,
        terms: tuple[TermEvidence, ...] = (),
    ) -> JointHit:
        values = None if query.samples is None else query.samples.values
        looks = {} if values is None else self.index.visual.kinds_of_evidence(values, at)
        return JointHit(
            self.index.documents[at],
            score,
            at,
            text,
            visual,
            terms,
            () if query.samples is None else self._regions(query.samples, at),
            sighting,
            tuple(looks.items()),
        )

    def _regions(self, samples: "Samples", at: int) -> tuple[RegionEvidence, ...]:
        if not samples.boxes.any():
            return ()
        visual = self.index.visual
        evidence = visual.region_evidence(samples.values, at)
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


def joint_weight(index: "Index", *, random_state: int = 0) -> float:
    """Return the weight of the picture for an index, learned from its documents once per change.

    Collections with too few words to learn from get the default.
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
    text = TextIndex.open(index)
    # Without the levels of scene and video, which contain the words of the example itself.
    smoothing = TwoStage(text.smoothing.mass, text.smoothing.share)
    words = LanguageModel(text.model.shards, smoothing, text.model.background)
    sharp = LanguageModel(text.model.shards, JelinekMercer())
    pool = np.sort(rng.permutation(np.flatnonzero(words.lengths > 0))[:_TRAINING_DOCUMENTS])
    targets, texts, visuals = [], [], []
    for example in rng.permutation(pool)[:_TRAINING_QUERIES].tolist():
        query = more_like_this(words, example)
        others = pool[pool != example]
        likely = sharp.scores(query)[0][others] if query else np.zeros(len(others))
        if not len(others) or np.ptp(likely) < 1e-9:  # no other document has any of the words
            continue
        targets.append(np.exp(likely - np.logaddexp.reduce(likely)))
        texts.append(words.scores(query)[0][others] / query.length)
        visuals.append(index.visual.score_subset(_model_samples(index, example, rng), others))
    if len(targets) < _FEWEST_QUERIES:
        return DEFAULT_WEIGHT
    covered = float((words.lengths > 0).mean())
    return weigh_evidence(np.stack(texts), np.stack(visuals), np.stack(targets), covered)


def weigh_evidence(texts: Array, visuals: Array, targets: Array, covered: float = 1.0) -> float:
    """Return the weight of the picture under which both kinds of evidence serve best.

    Args:
        texts: ``(Q, N)`` evidence of words for documents, per word.
        visuals: ``(Q, N)`` evidence of pictures, per sample.
        targets: ``(Q, N)`` a distribution over documents for each query: those with its words.
        covered: Share of the documents that have words; words cannot find the others.
    """
    reliable = picture_reliability(visuals, targets)
    said, seen = (fit_slope(each, targets) for each in (texts, visuals))
    # Grows from nothing without bound as reliability goes from 0 to what words can reach.
    seen *= reliable / max(covered - reliable, 1e-9)
    return float(np.clip(seen / max(said + seen, 1e-9), _LEAST_WEIGHT, 1 - _LEAST_WEIGHT))


def picture_reliability(visuals: Array, targets: Array) -> float:
    """Return how far the document nearest to a picture is one with its words, from 0 to 1.

    It is 0 for a document drawn at random and 1 for the best by the words, and 0 if it does not
    differ from chance by more than 2.5 standard errors.

    Args:
        visuals: ``(Q, N)`` evidence of pictures for documents.
        targets: ``(Q, N)`` a distribution over documents for each query.
    """
    chance = 1.0 / targets.shape[1]
    gained = targets[np.arange(len(targets)), visuals.argmax(axis=1)] - chance
    possible = targets.max(axis=1) - chance
    total = max(float(possible.sum()), 1e-12)
    share = float(gained.sum()) / total
    error = float(np.linalg.norm(gained - share * possible)) / total
    return min(share, 1.0) if share > _ERRORS * error else 0.0


def fit_slope(evidence: Array, targets: Array) -> float:
    """Find how much evidence counts to predict documents best.

    Args:
        evidence: ``(Q, N)`` per word or per sample.
        targets: ``(Q, N)`` a distribution over documents for each query.

    Returns:
        The factor, 0 or more, whose softmax has the smallest divergence from the targets.
    """
    from scipy.optimize import minimize_scalar
    from scipy.special import logsumexp

    spread = max(float(evidence.std(axis=1).mean()), 1e-12)
    table = evidence / spread

    def loss(slope: float) -> float:
        logs = slope * table
        logs = logs - logsumexp(logs, axis=1, keepdims=True)
        return float(-(targets * logs).sum() + _RIDGE / 2 * slope**2)

    found = minimize_scalar(loss, bounds=(0.0, _LARGEST_SLOPE), method="bounded").x
    return float(found) / spread


def _model_samples(index: "Index", at: int, rng: np.random.Generator) -> Array:
    """Draw samples from the model of a shot, on the scale of its features."""
    values, _ = index.visual.model(at).draw(0, _TRAINING_SAMPLES, rng)
    return index.visual.settings.require_scale().restore(values)
