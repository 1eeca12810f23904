"""Setting how much the picture counts beside the words, from data.

Where it is known which document a query means, the weights are those under which that document is
likeliest among all (a softmax of the joint score). A collection brings such queries along: the
words and the look of a shot should find the other shots of its scene.
"""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from wordsight.files import write_text
from wordsight.retrieval.joint import DEFAULT_WEIGHT
from wordsight.retrieval.text.feedback import more_like_this
from wordsight.retrieval.text.index import TextIndex
from wordsight.retrieval.text.model import LanguageModel
from wordsight.retrieval.text.smoothing import JelinekMercer

if TYPE_CHECKING:
    from wordsight.retrieval.index import Index

__all__ = ["fit_joint_weight", "joint_weight"]

Array = NDArray[np.float64]

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
