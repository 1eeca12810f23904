"""When a sentence is true of a clip: the score that separates true from false ones best."""

from collections.abc import Sequence

import numpy as np

from wordsight.evaluation import best_threshold
from wordsight.meaning.apart import Apart
from wordsight.meaning.corpus import Corpus
from wordsight.meaning.expectation import in_chunks

__all__ = ["learn_threshold"]


def learn_threshold(apart: Apart, corpus: Corpus, *, threads: int = 1) -> float:
    """Return the score with the best F1 over all candidates of all training clips.

    Every clip is judged by the words as they would be without it. Without false candidates the
    threshold is 0: the sentence explains the clip better than the corpus does.
    """

    def work(numbers: Sequence[int]) -> tuple[list[float], list[bool]]:
        scores: list[float] = []
        truth: list[bool] = []
        for number in numbers:
            example = corpus.examples[number]
            found = apart.without(number).scores(example.seen, example.candidates)
            scores += np.maximum(found, -1e9).tolist()
            truth += [place in example.truths for place in range(len(found))]
        return scores, truth

    parts = in_chunks(range(len(corpus.examples)), work, threads)
    scores = [score for part, _ in parts for score in part]
    truth = [one for _, part in parts for one in part]
    if all(truth) or not any(truth):
        return 0.0
    return best_threshold(scores, truth)[0]
