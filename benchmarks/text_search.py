"""Text search and index building beside bm25s, on the same terms.

Run with ``python -m benchmarks.text_search [--documents N] [--data DIR] [--json]``. Documents are
drawn from topics over a vocabulary with Zipf's frequencies; with ``--data`` a SMART collection is
used instead. Both sides get the same lists of terms, run in one thread and are timed by processor
time, turn by turn; the fastest turn of each counts. Ours ranks by Jelinek-Mercer smoothing, bm25s
by BM25; the models differ, so only the work is compared.
"""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.baselines.batch_search import BatchSearch
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.smart_files import read_smart
from wordsight.retrieval.text import Analyser, LanguageModel, TextQuery

__all__ = ["main", "measure"]

GOAL = 1.0
"""Least speed beside bm25s."""

TOP = 10
_BACKENDS = ("numpy", "numba")
Terms = list[list[str]]


def made_texts(documents: int, queries: int, seed: int = 0) -> tuple[Terms, Terms]:
    """Draw documents of about 40 words from topics, and queries of 2 to 6 of their words."""
    rng = np.random.default_rng(seed)
    vocabulary = 30_000
    zipf = 1.0 / np.arange(1, vocabulary + 1)
    names = np.array([f"w{number}" for number in range(vocabulary)])
    lengths = rng.integers(20, 60, documents)
    words = rng.choice(vocabulary, size=int(lengths.sum()), p=zipf / zipf.sum())
    # A third of the words come from the document's topic, so that terms keep company.
    topical = rng.random(len(words)) < 1 / 3
    topic = np.repeat(rng.integers(0, 500, documents), lengths)
    words = np.where(topical, (topic * 50 + words % 50) % vocabulary, words)
    texts = [part.tolist() for part in np.split(names[words], np.cumsum(lengths)[:-1])]
    asked = []
    for number in rng.integers(0, documents, queries).tolist():
        size = min(int(rng.integers(2, 7)), len(texts[number]))
        asked.append(list(dict.fromkeys(rng.choice(texts[number], size).tolist())))
    return texts, asked


def measure(texts: Terms, asked: Terms, repeats: int = 3) -> dict[str, Any]:
    """Time building and searching on both sides.

    Args:
        texts: The terms of each document.
        asked: The terms of each query.
        repeats: Turns of each; the fastest counts.
    """
    queries = [TextQuery(dict.fromkeys(terms, 1.0)) for terms in asked]
    ours = BatchSearch(LanguageModel.from_texts(texts))
    ours.search(queries[:2], TOP)  # compiled or loaded before the clock starts
    sides: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "ours": (
            lambda: BatchSearch(LanguageModel.from_texts(texts)),
            lambda: ours.search(queries, TOP),
        )
    }
    for backend in _BACKENDS:
        peer = _peer(texts, backend)
        _ask(peer, asked[:2])
        sides[f"bm25s {backend}"] = (
            lambda backend=backend: _peer(texts, backend),  # type: ignore[misc]
            lambda peer=peer: _ask(peer, asked),  # type: ignore[misc]
        )
    seconds = {name: [np.inf, np.inf] for name in sides}
    for _ in range(repeats):
        for name, actions in sides.items():
            for place, action in enumerate(actions):
                seconds[name][place] = min(seconds[name][place], _processor_seconds(action))
    rows = {
        name: {
            "build_seconds": round(build, 4),
            "queries_per_second": round(len(asked) / search, 1),
        }
        for name, (build, search) in seconds.items()
    }
    fastest = max(rows[f"bm25s {b}"]["queries_per_second"] for b in _BACKENDS)
    quickest = min(rows[f"bm25s {b}"]["build_seconds"] for b in _BACKENDS)
    return {
        "documents": len(texts),
        "queries": len(asked),
        "sides": rows,
        "search_ratio": round(rows["ours"]["queries_per_second"] / fastest, 2),
        "build_ratio": round(quickest / rows["ours"]["build_seconds"], 2),
        "goal": GOAL,
    }


def _peer(texts: Terms, backend: str) -> Any:
    import bm25s

    peer = bm25s.BM25(backend=backend)
    peer.index(texts, show_progress=False)
    return peer


def _ask(peer: Any, asked: Sequence[Sequence[str]]) -> Any:
    # Term numbers, not strings: its own tokeniser hands those over.
    numbers = [[peer.vocab_dict[t] for t in terms if t in peer.vocab_dict] for terms in asked]
    return peer.retrieve([some or [0] for some in numbers], k=TOP, show_progress=False, n_threads=0)


def _processor_seconds(action: Callable[[], Any]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = report_parser("benchmarks.text_search", __doc__ or "")
    parser.add_argument("--documents", type=int, default=100_000, help="how many to draw")
    parser.add_argument("--queries", type=int, default=1000, help="how many to ask")
    parser.add_argument("--data", type=Path, metavar="DIR", help="a SMART collection instead")
    options = parser.parse_args(arguments)
    say("preparing texts")
    if options.data is not None:
        collection, analyser = read_smart(options.data), Analyser()
        texts = [analyser.terms(text) for text in collection.documents.values()]
        asked = [list(dict.fromkeys(analyser.terms(t))) for t in collection.queries.values()]
    else:
        texts, asked = made_texts(options.documents, options.queries)
    results = measure(texts, asked)
    print_report(
        results,
        as_json=options.json,
        title=f"{results['documents']:,} documents, {results['queries']:,} queries, best {TOP}",
        columns=[
            Column("side", "", justify="left"),
            Column("build_seconds", "build, s", ".3f"),
            Column("queries_per_second", "queries/s", ",.0f"),
        ],
        rows=[{"side": name} | row for name, row in results["sides"].items()],
        notes=[
            f"search {results['search_ratio']}x, build {results['build_ratio']}x the faster bm25s"
        ],
    )


if __name__ == "__main__":
    run_main(main)
