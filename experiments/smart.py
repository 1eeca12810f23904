"""Text retrieval on a SMART collection (Cranfield, MEDLINE, CISI, ...), beside BM25.

Run with ``python -m experiments.smart --data DIR [--json]``. DIR holds documents, queries and
judgements as they are handed down, or several folders that do: then every collection is measured,
and the means over them are added. All models get the same terms.

``default`` is what ``wordsight search`` does without any option, and ``expand`` what it does with
``--expand``: every document is a film with one shot in a search index. These and the rows whose
names end with ``learned`` use no judgement. The parameters of the other rows, BM25 (bm25s) among
them, are chosen by cross-validation over queries: each fifth is answered with what is best on the
other four fifths. Average precision is compared with that of BM25 query by query.
"""

import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.batch_search import BatchSearch
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.smart_files import SmartCollection, collection_folders, read_smart
from wordsight.evaluation import JudgedRanking, parse_measure
from wordsight.retrieval.documents import Document, DocumentSource
from wordsight.retrieval.index.segments import LiveSegment, write_segment
from wordsight.retrieval.text import (
    TEXT,
    Analyser,
    Dirichlet,
    JelinekMercer,
    LanguageModel,
    Levels,
    Postings,
    RelevanceFeedback,
    Shard,
    TextIndex,
    TextPart,
    TextQuery,
    TextSmoothing,
    TwoStage,
    fit_two_stage,
    relevance_model,
)

__all__ = ["main", "measure"]

MEASURES = {"map": "AP", "ndcg10": "nDCG@10", "p10": "P@10"}
DEPTH = 1000
FOLDS = 5
LAMBDAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)
MASSES = (25, 50, 100, 150, 200, 300, 500, 800, 1200, 2000, 4000)
TWO_STAGES = tuple(product((10, 25, 50, 100, 200, 400, 800), (0.1, 0.3, 0.5, 0.7, 0.9)))
BACKGROUNDS: tuple[Literal["words", "documents"], ...] = ("words", "documents")
BELIEVED = (3, 5, 10, 15)
NEW_TERMS = tuple(product((10, 20, 40, 80), (0.3, 0.5, 0.7, 0.9)))
BM25 = tuple(product((0.6, 0.9, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 5.0), (0.3, 0.45, 0.6, 0.75, 0.9)))

DRAWS = 10_000  # of the randomisation test

Table = NDArray[np.float64]
Answers = list[NDArray[np.int64]]
"""For each query the numbers of the documents found, best first."""


def measure(data: Path, seed: int = 0) -> dict[str, Any]:
    """Answer the queries in every way, and return the measures of each."""
    collection = read_smart(data)
    analyser = Analyser()
    texts = [analyser.terms(text) for text in collection.documents.values()]
    queries = [TextQuery.from_text(text, analyser) for text in collection.queries.values()]
    levels = Levels.flat(Postings.build(texts))
    folds = np.random.default_rng(seed).permutation(len(queries)) % FOLDS
    judge = Judge(collection)
    smoothings: dict[str, list[TextSmoothing]] = {
        "jm": [JelinekMercer(weight) for weight in LAMBDAS],
        "dirichlet": [Dirichlet(mass) for mass in MASSES],
        "two_stage": [TwoStage(mass, share) for mass, share in TWO_STAGES],
    }
    tables: dict[str, Table] = {}
    chosen: dict[str, Any] = {}
    models: dict[str, LanguageModel] = {}
    for name, grid in smoothings.items():
        say(f"{name}: {len(grid) * len(BACKGROUNDS)} settings")
        tried = {}
        for smoothing, background in product(grid, BACKGROUNDS):
            model = LanguageModel([Shard(levels)], smoothing, background)
            key = f"{smoothing}, background of {background}"
            models[key], tried[key] = model, judge.table(_answers(model, queries))
        tables[name], chosen[name] = _validated(tried, folds)
    bases = sorted({key for keys in chosen.values() for key in keys})
    say(f"rm3: {len(bases) * len(BELIEVED) * len(NEW_TERMS)} settings")
    tried = {}
    for base, believed in product(bases, BELIEVED):
        for settings, answers in _feedback(models[base], believed, queries):
            tried[f"{base}, {believed} documents, {settings}"] = judge.table(answers)
    tables["rm3"], chosen["rm3"] = _validated(tried, folds)
    say(f"bm25: {len(BM25)} settings")
    asked = [analyser.terms(text) for text in collection.queries.values()]
    tried = {str(way): judge.table(_bm25(texts, asked, *way)) for way in BM25}
    tables["bm25"], chosen["bm25"] = _validated(tried, folds)
    for name, learned, answers in _unsupervised(levels, queries, collection):
        tables[name], chosen[name] = judge.table(answers), [str(learned)]
    return {name: _summary(table, tables["bm25"], seed) for name, table in tables.items()} | {
        "collection": collection.name,
        "documents": len(texts),
        "queries": len(queries),
        "folds": FOLDS,
        "chosen": chosen,
    }


def _unsupervised(
    levels: Levels, queries: list[TextQuery], collection: SmartCollection
) -> Iterator[tuple[str, TextSmoothing, Answers]]:
    """Yield the answers of models whose every parameter is learned from the documents."""
    model = LanguageModel([Shard(levels)], background="documents")
    both = fit_two_stage(levels, model.shares())
    for name, smoothing in {
        "jm_learned": JelinekMercer(1 - both.share),
        "dirichlet_learned": Dirichlet(both.mass),
        "two_stage_learned": both,
    }.items():
        learned = LanguageModel(model.shards, smoothing, "documents")
        yield name, smoothing, _answers(learned, queries)
    with tempfile.TemporaryDirectory() as folder:
        index = _indexed(collection, Path(folder))
        asked = [index.query(text) for text in collection.queries.values()]
        wider = [RelevanceFeedback().expand(index.model, query) for query in asked]
        for name, given in {"default": asked, "expand": wider}.items():
            found = [index.model.search(query, DEPTH).documents for query in given]
            yield name, index.smoothing, found


def _indexed(collection: SmartCollection, folder: Path) -> TextIndex:
    """Write the documents into a search index as films of one shot, as a library would."""
    part = TextPart(Analyser())
    films = [
        DocumentSource(Document(f"{name}:0000", name), (text,))
        for name, text in collection.documents.items()
    ]
    segment = write_segment(folder, "films", {TEXT: part.build(films)})
    return TextIndex([LiveSegment(segment, np.arange(len(films)))], part.analyser)


def _summary(table: Table, peer: Table, seed: int) -> dict[str, float]:
    """Return the mean of each measure, and how sure AP differs from that of the peer."""
    from scipy.stats import ttest_rel

    means = dict(zip(MEASURES, table.mean(axis=0).round(4).tolist(), strict=True))
    difference = table[:, 0] - peer[:, 0]
    if not difference.any():
        return means
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (DRAWS, len(difference)))
    as_far = np.abs(signs @ difference) >= abs(difference.sum()) - 1e-12
    t_test = float(ttest_rel(table[:, 0], peer[:, 0]).pvalue)
    return means | {
        "p_t": round(t_test, 4),
        "p_randomisation": round(float((1 + as_far.sum()) / (1 + DRAWS)), 4),
    }


class Judge:
    """Measures answers to the queries of a collection."""

    def __init__(self, collection: SmartCollection):
        place = {name: number for number, name in enumerate(collection.documents)}
        self._grades = []
        for query in collection.queries:
            grades = np.zeros(len(place), np.int64)
            for document, grade in collection.qrels[query].items():
                if document in place:
                    grades[place[document]] = grade
            self._grades.append(grades)
        self._measures = [parse_measure(name) for name in MEASURES.values()]

    def table(self, answers: Answers) -> Table:
        """Return ``(Q, 3)`` the measures of each query."""
        rows = []
        for grades, documents in zip(self._grades, answers, strict=True):
            judged = np.ones(len(documents), np.bool_)
            found = JudgedRanking(grades[documents], judged, np.sort(grades)[::-1])
            rows.append([measure(found) for measure in self._measures])
        return np.array(rows)


def _validated(tables: dict[str, Table], folds: NDArray[np.int64]) -> tuple[Table, list[str]]:
    """Score each fold with the setting that is best on the others."""
    names, values = list(tables), np.stack(list(tables.values()))
    scores, chosen = np.zeros(values.shape[1:]), []
    for fold in range(FOLDS):
        held = folds == fold
        best = int(np.argmax(values[:, ~held, 0].mean(axis=1)))
        scores[held] = values[best, held]
        chosen.append(names[best])
    return scores, chosen


def _answers(model: LanguageModel, queries: list[TextQuery]) -> Answers:
    return [found.documents for found in BatchSearch(model).search(queries, DEPTH)]


def _feedback(
    model: LanguageModel, believed: int, queries: list[TextQuery]
) -> Iterator[tuple[str, Answers]]:
    """Yield the answers of every feedback that believes so many documents."""
    search = BatchSearch(model)
    first = RelevanceFeedback(believed)
    samples = [relevance_model(model, first.document_posterior(model, query)) for query in queries]
    for terms, weight in NEW_TERMS:
        feedback = RelevanceFeedback(believed, terms, weight)
        wider = [feedback.mix(q, sample) for q, sample in zip(queries, samples, strict=True)]
        found = search.search(wider, DEPTH)
        yield f"{terms} terms, {weight} on the query", [each.documents for each in found]


def _bm25(texts: list[list[str]], asked: list[list[str]], k1: float, b: float) -> Answers:
    import bm25s

    peer = bm25s.BM25(k1=k1, b=b)
    peer.index(texts, show_progress=False)
    answers: Answers = []
    for terms in asked:
        # A query whose every word is unknown finds nothing; bm25s would rather not be asked.
        known = [term for term in terms if term in peer.vocab_dict]
        if not known:
            answers.append(np.zeros(0, np.int64))
            continue
        found = peer.retrieve([known], k=min(DEPTH, len(texts)), show_progress=False)
        answers.append(found.documents[0][found.scores[0] > 0].astype(np.int64))
    return answers


_TITLES = {
    "default": "wordsight search (two stages and neighbours, learned)",
    "expand": "wordsight search --expand (RM3)",
    "jm_learned": "Jelinek-Mercer, learned",
    "dirichlet_learned": "Dirichlet, learned",
    "two_stage_learned": "Two-stage, learned",
    "jm": "Jelinek-Mercer, cross-validated",
    "dirichlet": "Dirichlet, cross-validated",
    "two_stage": "Two-stage, cross-validated",
    "rm3": "RM3, cross-validated",
    "bm25": "BM25 (bm25s), cross-validated",
}


def combined(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the means over collections, and the results of each."""
    means = {
        row: {
            name: round(float(np.mean([each[row][name] for each in results])), 4)
            for name in MEASURES
        }
        for row in _TITLES
    }
    return means | {"collections": {each["collection"]: each for each in results}}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.smart", __doc__ or "", "folder of SMART collections")
    parser.add_argument("--seed", type=int, default=0, help="of the folds")
    options = parser.parse_args(arguments)
    measured = []
    for folder in collection_folders(options.data):
        say(f"{folder.name}:")
        measured.append(measure(folder, options.seed))
    shown = list(measured)
    results = measured[0]
    if len(measured) > 1:
        results = combined(measured)
        shown.append(results)
    print_report(
        results,
        as_json=options.json,
        title="; ".join(
            f"{each['collection']}: {each['documents']} documents, {each['queries']} queries"
            for each in measured
        ),
        columns=[
            Column("collection", "", justify="left"),
            Column("row", "", justify="left"),
            Column("map", "MAP", ".3f"),
            Column("ndcg10", "nDCG@10", ".3f"),
            Column("p10", "P@10", ".3f"),
            Column("p_t", "p (paired t)", ".3f"),
            Column("p_randomisation", "p (randomised)", ".3f"),
        ],
        rows=[
            {"collection": each.get("collection", "mean"), "row": title} | each[key]
            for each in shown
            for key, title in _TITLES.items()
        ],
    )


if __name__ == "__main__":
    run_main(main)
