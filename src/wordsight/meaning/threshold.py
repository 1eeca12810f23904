"""When a sentence is true of a clip: the score that separates true from false ones best."""

from collections.abc import Sequence

import numpy as np

from wordsight.evaluation import best_threshold
from wordsight.meaning.corpus import Example
from wordsight.meaning.expectation import in_chunks
from wordsight.meaning.lexicon import LearnedLexicon

__all__ = ["learn_threshold"]


def learn_threshold(
    lexicon: LearnedLexicon, examples: Sequence[Example], *, threads: int = 1
) -> float:
    """Return the score with the best F1 over all candidates of all training clips.

    Without false candidates it is 0: the sentence explains the clip better than the corpus does.
    """

    def work(chunk: Sequence[Example]) -> tuple[list[float], list[bool]]:
        scores: list[float] = []
        truth: list[bool] = []
        for example in chunk:
            found = lexicon.scores(example.seen, example.candidates)
            scores += np.maximum(found, -1e9).tolist()
            truth += [number in example.truths for number in range(len(found))]
        return scores, truth

    parts = in_chunks(examples, work, threads)
    scores = [score for part, _ in parts for score in part]
    truth = [one for _, part in parts for one in part]
    if all(truth) or not any(truth):
        return 0.0
    return best_threshold(scores, truth)[0]
