"""The compiled search: sums of term evidence over documents, and the best k of each query.

Terms are processed by decreasing upper bound. Once the remaining terms alone cannot bring a
document into the best k, only documents that can still get there are looked up (MaxScore of Turtle
and Flood, term at a time): exact, and common words cost little.

Importing this module imports numba: import it where it is needed.
"""

import numpy as np
from numba import njit

__all__ = ["search_queries"]

_FEW = 4096
"""Documents whose scores fit into the L1 cache: scanning all is faster than tracking matches."""


@njit(cache=True, nogil=True)
def search_queries(  # type: ignore[no-untyped-def]
    starts, documents, evidence, bounds, cost, query_starts, terms, weights, num_documents, top
):
    """Find the best ``top`` documents of each query.

    Args:
        starts: ``(T + 1,)`` where the entries of each term start.
        documents: ``(P,)`` uint32, ascending within a term; signed ones would be checked for -1.
        evidence: ``(P,)`` evidence of the term for the document, above 0.
        bounds: ``(T,)`` largest evidence of each term.
        cost: ``(N,)`` length cost of each document per query word, or empty.
        query_starts: ``(Q + 1,)`` where the terms of each query start.
        terms: Term numbers.
        weights: Their weights, above 0.
        num_documents: N.
        top: Maximum number of documents per query.

    Returns:
        ``(Q, top)`` documents, -1 beyond the end, and their scores.
    """
    count = len(query_starts) - 1
    scores = np.zeros(num_documents)
    touched = np.empty(num_documents + 1, np.uint32)  # one more: see _add
    best = np.full((count, top), -1, np.int64)
    values = np.zeros((count, top))
    heap_scores, heap_documents = np.empty(top), np.empty(top, np.int64)
    most = cost.max() if len(cost) else 0.0
    for q in range(count):
        some = terms[query_starts[q] : query_starts[q + 1]]
        shares = weights[query_starts[q] : query_starts[q + 1]]
        length = shares.sum()
        if num_documents <= _FEW:
            _add_all(scores, starts, documents, evidence, some, shares)
            held = _best_of_all(scores, cost, length, top, heap_scores, heap_documents)
        else:
            seen = _add_pruned(
                scores, touched, starts, documents, evidence, bounds, cost, most,
                some, shares, length, top, heap_scores, heap_documents,
            )  # fmt: skip
            held = _best(scores, touched, seen, cost, length, top, heap_scores, heap_documents)
            for t in range(seen):
                scores[touched[t]] = 0.0
        while held > 0:
            held -= 1
            values[q, held], best[q, held] = heap_scores[0], heap_documents[0]
            _sift_down(heap_scores, heap_documents, held, heap_scores[held], heap_documents[held])
    return best, values


@njit(cache=True, nogil=True)
def _add_all(scores, starts, documents, evidence, terms, weights):  # type: ignore[no-untyped-def]
    """Add the evidence of all terms of a query."""
    for place in range(len(terms)):
        weight = weights[place]
        for p in range(starts[terms[place]], starts[terms[place] + 1]):
            scores[documents[p]] += weight * evidence[p]


@njit(cache=True, nogil=True)
def _best_of_all(scores, cost, length, top, heap_scores, heap_documents):  # type: ignore[no-untyped-def]
    """Collect the best documents in a heap and reset all scores; return their number."""
    held, least = 0, 0.0 if len(cost) == 0 else -np.inf
    for document in range(len(scores)):
        score = scores[document]
        if len(cost):
            score = score + length * cost[document] if score > 0.0 else -np.inf
        # One comparison that rarely holds; among equal scores the first stays.
        if score > least:
            if held < top:
                _sift_up(heap_scores, heap_documents, held, score, document)
                held += 1
            else:
                _sift_down(heap_scores, heap_documents, held, score, document)
            if held == top:
                least = heap_scores[0]
    scores[:] = 0.0
    return held


@njit(cache=True, nogil=True)
def _add_pruned(  # type: ignore[no-untyped-def]
    scores, touched, starts, documents, evidence, bounds, cost, most,
    terms, weights, length, top, heap_scores, heap_documents,
):  # fmt: skip
    """Add the terms of a query by decreasing bound; return the number of candidates left."""
    order = np.argsort(-bounds[terms] * weights)
    left = (bounds[terms] * weights).sum()
    seen, pruned = 0, False
    for place in order:
        term, weight = terms[place], weights[place]
        first, end = starts[term], starts[term + 1]
        if not pruned and seen >= top and end - first > seen:
            # Pruning pays only before a list longer than the candidates.
            _best(scores, touched, seen, cost, length, top, heap_scores, heap_documents)
            least = heap_scores[0]
            if left + length * most < least:
                pruned = True
                seen = _kept(scores, touched, seen, cost, length, least - left)
        left -= bounds[term] * weight
        if pruned:
            _look_up(scores, touched, seen, documents, evidence, first, end, weight)
        else:
            seen = _add(scores, touched, seen, documents, evidence, first, end, weight)
    return seen


@njit(cache=True, nogil=True)
def _add(scores, touched, seen, documents, evidence, first, end, weight):  # type: ignore[no-untyped-def]
    """Add a term to every document that has it; return the new number of candidates."""
    for p in range(first, end):
        document = documents[p]
        before = scores[document]
        scores[document] = before + weight * evidence[p]
        touched[seen] = document
        seen += before == 0.0  # without a branch
    return seen


@njit(cache=True, nogil=True)
def _look_up(scores, touched, seen, documents, evidence, first, end, weight):  # type: ignore[no-untyped-def]
    """Add a term to the remaining candidates, by binary search in its list."""
    for t in range(seen):
        document = touched[t]
        low, high = first, end
        while low < high:
            middle = (low + high) // 2
            if documents[middle] < document:
                low = middle + 1
            else:
                high = middle
        if low < end and documents[low] == document:
            scores[document] += weight * evidence[low]


@njit(cache=True, nogil=True)
def _kept(scores, touched, seen, cost, length, least):  # type: ignore[no-untyped-def]
    """Drop candidates below a score; return the number that are left."""
    kept = 0
    for t in range(seen):
        document = touched[t]
        if _total(scores, cost, length, document) >= least:
            touched[kept] = document
            kept += 1
        else:
            scores[document] = 0.0
    return kept


@njit(cache=True, nogil=True)
def _best(scores, touched, seen, cost, length, top, heap_scores, heap_documents):  # type: ignore[no-untyped-def]
    """Collect the best candidates in a heap whose worst is on top; return their number."""
    held = 0
    for t in range(seen):
        document = touched[t]
        score = _total(scores, cost, length, document)
        if held < top:
            _sift_up(heap_scores, heap_documents, held, score, document)
            held += 1
        elif _better(score, document, heap_scores[0], heap_documents[0]):
            _sift_down(heap_scores, heap_documents, held, score, document)
    return held


@njit(cache=True, nogil=True, inline="always")
def _total(scores, cost, length, document):  # type: ignore[no-untyped-def]
    """Return the score of a document with its length cost."""
    return scores[document] + length * cost[document] if len(cost) else scores[document]


@njit(cache=True, nogil=True, inline="always")
def _better(score, document, other, other_document):  # type: ignore[no-untyped-def]
    """Whether the first ranks before the second: by score, then by number."""
    return score > other or (score == other and document < other_document)


@njit(cache=True, nogil=True)
def _sift_up(scores, documents, place, score, document):  # type: ignore[no-untyped-def]
    """Insert an entry at the end of a heap whose worst is on top."""
    while place > 0:
        parent = (place - 1) // 2
        if not _better(scores[parent], documents[parent], score, document):
            break
        scores[place], documents[place] = scores[parent], documents[parent]
        place = parent
    scores[place], documents[place] = score, document


@njit(cache=True, nogil=True)
def _sift_down(scores, documents, size, score, document):  # type: ignore[no-untyped-def]
    """Replace the worst entry of a heap of ``size`` entries."""
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
