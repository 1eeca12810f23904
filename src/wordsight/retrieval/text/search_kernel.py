"""The compiled search: sums of term evidence over documents, and the best k of each query.

Importing this module imports numba: import it where it is needed.
"""

import numpy as np
from numba import njit

__all__ = ["search_queries"]


@njit(cache=True, nogil=True)
def search_queries(starts, documents, evidence, cost, query_starts, terms, weights, top):  # type: ignore[no-untyped-def]
    """Find the best ``top`` documents of each query.

    Args:
        starts: ``(T + 1,)`` where the entries of each term start.
        documents: ``(P,)`` which document.
        evidence: ``(P,)`` what the term says of it, above 0.
        cost: ``(N,)`` what each word of a query costs a document, or empty.
        query_starts: ``(Q + 1,)`` where the terms of each query start.
        terms: Term numbers.
        weights: Their weights, above 0.
        top: How many documents at most.

    Returns:
        ``(Q, top)`` documents, -1 where there are no more, and their scores.
    """
    count = len(query_starts) - 1
    size = 0
    for p in range(len(documents)):
        if documents[p] >= size:
            size = documents[p] + 1
    scores = np.zeros(size)
    touched = np.empty(size, np.int32)
    best = np.full((count, top), -1, np.int64)
    values = np.zeros((count, top))
    heap_scores = np.empty(top)
    heap_documents = np.empty(top, np.int64)
    for q in range(count):
        seen = 0
        length = 0.0
        for place in range(query_starts[q], query_starts[q + 1]):
            weight = weights[place]
            length += weight
            for p in range(starts[terms[place]], starts[terms[place] + 1]):
                document = documents[p]
                if scores[document] == 0.0:
                    touched[seen] = document
                    seen += 1
                scores[document] += weight * evidence[p]
        held = 0
        for t in range(seen):
            document = touched[t]
            score = scores[document]
            scores[document] = 0.0
            if len(cost):
                score += length * cost[document]
            if held < top:
                _sift_up(heap_scores, heap_documents, held, score, document)
                held += 1
            elif _better(score, document, heap_scores[0], heap_documents[0]):
                _sift_down(heap_scores, heap_documents, held, score, document)
        while held > 0:
            held -= 1
            values[q, held] = heap_scores[0]
            best[q, held] = heap_documents[0]
            _sift_down(heap_scores, heap_documents, held, heap_scores[held], heap_documents[held])
    return best, values


@njit(cache=True, nogil=True, inline="always")
def _better(score, document, other, other_document):  # type: ignore[no-untyped-def]
    """Whether the first stands before the second: higher score, or the same and lower number."""
    return score > other or (score == other and document < other_document)


@njit(cache=True, nogil=True)
def _sift_up(scores, documents, place, score, document):  # type: ignore[no-untyped-def]
    """Put an entry into a heap whose worst is on top, at its end."""
    while place > 0:
        parent = (place - 1) // 2
        if not _better(scores[parent], documents[parent], score, document):
            break
        scores[place], documents[place] = scores[parent], documents[parent]
        place = parent
    scores[place], documents[place] = score, document


@njit(cache=True, nogil=True)
def _sift_down(scores, documents, size, score, document):  # type: ignore[no-untyped-def]
    """Put an entry in the place of the worst one of a heap of ``size`` entries."""
    place = 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        right = child + 1
        if right < size and _better(
            scores[child], documents[child], scores[right], documents[right]
        ):
            child = right
        if not _better(score, document, scores[child], documents[child]):
            break
        scores[place], documents[place] = scores[child], documents[child]
        place = child
    scores[place], documents[place] = score, document
