r"""`JointSearch`: words and pictures together, each per observation, and what each of them said.

A picture has a thousand samples and a query a handful of words; added up as they are, the picture
would always win. So both are divided by how much was observed:

$$\frac{\mu}{|V|}\log\frac{p(V|\theta)}{p(V)}+\frac{1-\mu}{|q|}\log\frac{P(q|\phi)}{P(q)}$$
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.files import write_text
from wordsight.retrieval.documents import Document, top_k
from wordsight.retrieval.errors import RetrievalError
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

Array = NDArray[np.float64]


DEFAULT_WEIGHT = 0.25
"""Share of the picture before anything is learned: words tell more, as all who tried found."""

MANY_DOCUMENTS = 100_000
"""From here on a picture is compared with candidates, not with every document."""

_ROWS, _COLUMNS = ("top", "middle", "bottom"), ("left", "centre", "right")


@dataclass(frozen=True)
class JointQuery:
    """What is looked for: words, samples of pictures, or both.

    Attributes:
        text: The words, if any.
        samples: Samples of the example pictures, if any; boxes of 0 where their places shall not
            be told.
        exclude: Positions of documents that are not to be found, such as the example itself.
    """

    text: TextQuery | None = None
    samples: "Samples | None" = None
    exclude: frozenset[int] = field(default_factory=frozenset)


@dataclass(frozen=True)
class RegionEvidence:
    """What a part of the example picture says about a document.

    Attributes:
        place: Where in the picture, such as ``top left``.
        box: The part, corners x1, y1, x2, y2 in its pixels.
        evidence: Mean over its samples of how much better the document explains them than the
            collection does; natural log.
    """

    place: str
    box: tuple[float, float, float, float]
    evidence: float


@dataclass(frozen=True)
class JointHit:
    """A document that was found, and why.

    Attributes:
        document: Which one.
        score: By which it ranks.
        position: Where it stands in the index.
        text: Evidence of the words, per word; ``None`` if none were asked for.
        visual: Evidence of the picture, per sample: above 0 the document explains it better than
            the collection does; ``None`` if there was no picture.
        terms: What each word says, strongest first.
        regions: What each ninth of the picture says, strongest first.
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
        weight: Share of the picture where both are given, from 0 to 1.
        exact: Whether a picture alone is compared with every document; otherwise a few of its
            samples choose candidates, and a document may be missed. If None, where there are at
            most 100,000. Beside words it always is.
    """

    def __init__(
        self, index: "Index", weight: float = DEFAULT_WEIGHT, exact: bool | None = None
    ) -> None:
        if not 0 <= weight <= 1:
            raise RetrievalError(f"the share of the picture lies between 0 and 1, got {weight}.")
        self.index = index
        self.text = TextIndex.of(index)
        self.weight = weight
        self.exact = len(index) <= MANY_DOCUMENTS if exact is None else exact

    def text_evidence(self, query: TextQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Return ``(N,)`` the evidence of words, per word, and which documents have any."""
        scores, matched = self.text.model.scores(query)
        return scores / max(query.length, 1e-12), matched

    def visual_evidence(self, samples: "Samples") -> Array:
        """Return ``(N,)`` log likelihood of samples less that under the collection, per sample.

        In single precision, right to about 1e-5; :meth:`search` settles the best in double.
        """
        if not len(self.index):
            return np.zeros(0)
        scores = self.index.visual.score(samples.values, precision="single")
        return scores - self._unrelated(samples)

    def _unrelated(self, samples: "Samples") -> float:
        """Return the score of a document that is as likely as the collection."""
        visual, first = self.index.visual, np.zeros(1, np.int64)
        # One document's evidence, sample by sample, tells what its score is counted from.
        evidence = float(visual.region_evidence(samples.values, 0).mean())
        own = evidence + float(np.log1p(-visual.settings.kappa))
        return float(visual.score_some(samples.values, first)[0]) - own

    def search(self, query: JointQuery, k: int = 10, *, everything: bool = False) -> list[JointHit]:
        """Return the best documents.

        With words alone, a document must have one of them, so that there may be none. A picture is
        always nearer to some documents than to others; ``visual`` of a hit tells whether it is
        near at all.

        Args:
            query: What to look for.
            k: How many at most.
            everything: Whether to return documents that have none of the words.

        Raises:
            RetrievalError: If the query is empty.
        """
        if query.text is None and query.samples is None:
            raise RetrievalError("there is nothing to look for; give words, a picture or both.")
        if query.samples is not None and not query.text and not self.exact:
            return self._by_candidates(query, query.samples, k)
        text, visual = None, None
        scores = np.zeros(len(self.index))
        if query.samples is not None:
            visual = self.visual_evidence(query.samples)
            scores += visual * self._picture_share(query)
        if query.text is not None:
            text, matched = self.text_evidence(query.text)
            scores += text * (1 - self._picture_share(query) if query.samples is not None else 1.0)
            if query.samples is None and not everything:
                scores[~matched] = -np.inf
        scores[list(query.exclude)] = -np.inf
        if not len(scores):
            return []
        if query.samples is not None and visual is not None:
            self._settle(query, scores, visual, k)
        found = top_k(scores, k, self.index.documents.id_of).tolist()
        return [
            self._hit(
                at,
                float(scores[at]),
                query,
                None if text is None else float(text[at]),
                None if visual is None else float(visual[at]),
            )
            for at in found
        ]

    def _by_candidates(self, query: JointQuery, samples: "Samples", k: int) -> list[JointHit]:
        """Choose candidates by a few of the samples, and score only those in full."""
        visual = self.index.visual
        wanted = visual.num_candidates(k) + len(query.exclude)
        likely = visual.candidates(samples.values, wanted)
        likely = likely[~np.isin(likely, list(query.exclude))]
        if not len(likely):
            return []
        scores = visual.score_some(samples.values, likely) - self._unrelated(samples)
        order = top_k(scores, k, lambda at: self.index.documents.id_of(int(likely[at])))
        best = [(int(likely[at]), float(scores[at])) for at in order]
        return [self._hit(at, score, query, None, score) for at, score in best]

    def _picture_share(self, query: JointQuery) -> float:
        return self.weight if query.text else 1.0

    def _settle(self, query: JointQuery, scores: Array, visual: Array, k: int) -> None:
        """Put double precision in the place of single for all that may be among the best."""
        if query.samples is None:
            return
        least = np.partition(scores, -k)[-k] if k < len(scores) else -np.inf
        likely = np.flatnonzero((scores >= least - SINGLE_ERROR) & np.isfinite(scores))
        if not len(likely):
            return
        exact = self.index.visual.score_some(query.samples.values, likely)
        exact = exact - self._unrelated(query.samples)
        scores[likely] += self._picture_share(query) * (exact - visual[likely])
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
    """Average the evidence of samples over the nine parts of what they cover."""
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


# Setting how much the picture counts beside the words, from data.
#
# Where it is known which document a query means, the weights are those under which that document is
# likeliest among all (a softmax of the joint score). A collection brings such queries along: the
# words and the look of a shot should find the other shots of its scene.


_NOTES = "joint-weight.json"
_QUERIES = 60
_DOCUMENTS = 1500  # that compete for each query; more would only take longer
_SAMPLES = 150
_LEAST = 0.05
_RIDGE = 0.05  # what says nothing gets no weight
_FEWEST = 8  # queries; fewer say too little to overrule the default


def fit_joint_weight(text: Array, visual: Array, right: NDArray[np.bool_]) -> float:
    """Find the share of the picture under which the right documents are likeliest.

    Args:
        text: ``(Q, N)`` evidence of the words, per word.
        visual: ``(Q, N)`` evidence of the picture, per sample; ``-inf`` rules a document out.
        right: ``(Q, N)`` which documents are right, at least one per query.

    Returns:
        The share of the picture, from 0 to 1.
    """
    from scipy.optimize import minimize
    from scipy.special import logsumexp

    open_ = np.isfinite(visual)
    visual = np.where(open_, visual, 0.0)

    def loss(weights: Array) -> tuple[float, Array]:
        scores = np.where(open_, weights[0] * text + weights[1] * visual, -np.inf)
        whole, part = logsumexp(scores, axis=1), logsumexp(np.where(right, scores, -np.inf), axis=1)
        all_, hit = np.exp(scores - whole[:, None]), np.exp(scores - part[:, None])
        pull = all_ - np.where(right, hit, 0.0)
        slope = np.array([(pull * text).sum(), (pull * visual).sum()]) + _RIDGE * weights
        return float((whole - part).sum() + _RIDGE / 2 * weights @ weights), slope

    # Both are evidence: neither may count against a document.
    found = minimize(loss, np.ones(2), jac=True, bounds=[(0.0, 1e3)] * 2, method="L-BFGS-B").x
    return float(found[1] / found.sum()) if found.sum() > 0 else DEFAULT_WEIGHT


def joint_weight(index: "Index", *, random_state: int = 0) -> float:
    """Return the share of the picture for an index, learned from its scenes once per change.

    The default is returned for collections whose scenes have too few words to learn from.
    """
    notes = index.folder / _NOTES
    try:
        kept = json.loads(notes.read_text(encoding="utf-8"))
        if kept["generation"] == index.generation and 0 <= float(kept["weight"]) <= 1:
            return float(kept["weight"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # learned again
    weight = _learned(index, np.random.default_rng(random_state))
    try:
        text = json.dumps({"generation": index.generation, "weight": weight}, indent=1)
        write_text(notes, text + "\n")
    except OSError:
        pass  # an index that can only be read is learned from each time
    return weight


def _learned(index: "Index", rng: np.random.Generator) -> float:
    # Without scene and video: those hold the words of the example itself.
    words = LanguageModel(TextIndex.of(index).model.shards, JelinekMercer())
    examples = _examples(index, words, rng)
    if len(examples) < _FEWEST:
        return DEFAULT_WEIGHT
    rivals = np.sort(rng.permutation(len(index))[:_DOCUMENTS])
    texts, visuals, rights = [], [], []
    for example, mates in examples:
        others = np.setdiff1d(rivals, mates, assume_unique=True)
        documents = np.concatenate([mates, others])[: len(rivals)]
        query = more_like_this(words, example)
        texts.append(words.scores(query)[0][documents] / query.length)
        visual = index.visual.score_some(_drawn(index, example, rng), documents)
        visuals.append(np.where(documents == example, -np.inf, visual))
        rights.append(np.isin(documents, mates))
    found = fit_joint_weight(np.stack(texts), np.stack(visuals), np.stack(rights))
    # Whoever gives both wants both to count, if only a little.
    return float(np.clip(found, _LEAST, 1 - _LEAST))


def _examples(
    index: "Index", words: LanguageModel, rng: np.random.Generator
) -> list[tuple[int, Sequence[int]]]:
    """Choose shots with words that have other shots in their scene; return both."""
    videos, _ = index.documents.video_numbers()
    scenes = videos * (int(index.documents.scenes().max(initial=0)) + 1) + index.documents.scenes()
    found = []
    for at in rng.permutation(np.flatnonzero(words.lengths > 0)).tolist():
        mates = np.flatnonzero(scenes == scenes[at])
        if len(mates) > 1 and more_like_this(words, at):
            found.append((at, mates[mates != at].tolist()))
        if len(found) == _QUERIES:
            break
    return found


def _drawn(index: "Index", at: int, rng: np.random.Generator) -> Array:
    """Draw samples from a shot's model, on the scale of its features."""
    values, _ = index.visual.model(at).draw(0, _SAMPLES, rng)
    return index.visual.settings.known_scale().restored(values)
