"""Query by picture in folders of pictures: mixtures of Gaussians beside simpler measures.

Run with ``python -m experiments.images --data DIR [--queries N] [--json]``. DIR holds a folder of
pictures per class. Each picture (or N of them, drawn at random) is the query once and all others
are ranked; those of its class are right. Reported are mean average precision and precision at 10:

- ``default``: what ``wordsight search --image`` does: every picture is a film with one shot in a
  search index, whose smoothing is learned from the pictures alone (``chosen``);
- ``network``: the same with ``wordsight index --embedding FILE``, if ``--embedding FILE`` is given;
- ``gmm``, ``gmm_background``: the query's samples under each picture's mixture of 8 Gaussians,
  without and with the collection as background;
- ``standing``: the plain and a smoothed likelihood together, each beside what other pictures ask
  (``baselines/standing.py``);
- ``ala``: the query's mixture against each picture's, by the asymptotic likelihood approximation;
- ``document_generation``: each picture's samples under the query's mixture, over the background;
- ``histogram``: colour histograms; ``bag_of_words``: clusters of the same samples; ``chance``.

The query is left out of the background, except in ``default``. Which settings of the features were
looked at on which pictures is in docs/benchmarks.md.
"""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.model_ranking import ala_scores, document_generation
from experiments.baselines.standing import Standing
from experiments.image_baselines import bags_of_words, colour_histograms
from experiments.image_folders import find_images, read_images
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.retrieval import (
    Document,
    DocumentSource,
    Index,
    IndexWriter,
    JointQuery,
    JointSearch,
)
from wordsight.retrieval.index.build import SCALE_SHOTS
from wordsight.retrieval.text import TEXT, Analyser, TextPart
from wordsight.retrieval.visual import (
    BlockDct,
    CollectionBackground,
    FeatureScale,
    PackedMixtures,
    ShotMixtures,
    VisualPart,
    VisualSettings,
    log_likelihoods,
    smoothed_gains,
)
from wordsight.retrieval.visual.embedding import EmbeddingFile
from wordsight.retrieval.visual.part import LEAST_VARIANCE, VISUAL, source_samples
from wordsight.retrieval.visual.scoring import evenly_spread, reference_rows, sampling_keys
from wordsight.retrieval.visual.stills import SoughtPicture, StillsPart

__all__ = ["indexed", "main", "measure", "ranking_scores"]

Array = NDArray[np.float64]

KAPPA = 0.9
_MOST_QUERIES = 500
_DOCUMENT_SAMPLES = 200  # of each picture that document generation looks at


@dataclass(frozen=True)
class Modelled:
    """Pictures with their models.

    Attributes:
        bags: Per picture its samples on the collection's scale.
        model: Their mixtures, fitted.
        packed: The same, ready for scoring.
        reference: Which of them make up the background.
    """

    bags: list[Array]
    model: ShotMixtures
    packed: PackedMixtures
    reference: NDArray[np.int64]

    def background_without(self, query: int) -> CollectionBackground:
        """Return the background of the collection as if the query were not in it."""
        others = self.reference[self.reference != query]
        return CollectionBackground(self.packed[others], LEAST_VARIANCE)


def measure(
    data: Path,
    *,
    queries: int | None = _MOST_QUERIES,
    random_state: int = 0,
    network: Path | None = None,
) -> dict[str, Any]:
    """Rank pictures by every method, and with a network by it as well, and score the rankings."""
    images, classes, names = read_images(find_images(data), BlockDct().longest)
    labels = np.unique(classes, return_inverse=True)[1]
    say(f"{len(images)} pictures of {labels.max() + 1} classes")
    features = BlockDct()
    bags = [features.samples(image).values for image in images]
    scale = FeatureScale.measure(bags, features.resolution)
    model = ShotMixtures(random_state=random_state).fit(bags, scale=scale)
    scaled = [scale.standardise(bag) for bag in bags]
    lots = sampling_keys(f"{label}/{name}" for label, name in zip(classes, names, strict=True))
    modelled = Modelled(scaled, model, PackedMixtures.pack(model.mixtures_), reference_rows(lots))
    asked = _queries(labels, queries, random_state)
    looks = [bag[:, : -len(features.places)] for bag in scaled]
    alike = {"histogram": colour_histograms(images), "bag_of_words": bags_of_words(looks)}
    methods = _methods(modelled, random_state) | {
        name: (lambda query, table=table: table[query]) for name, table in alike.items()
    }
    documents = [
        DocumentSource(Document(f"{number:06d}", f"{number:06d}"), frames=(image,))
        for number, image in enumerate(images)
    ]
    with tempfile.TemporaryDirectory() as folder:
        index = indexed(documents, Path(folder) / "own", random_state)
        methods = {"default": _found(index, images)} | methods
        if network is not None:
            file = EmbeddingFile.of(network)
            both = indexed(documents, Path(folder) / "both", random_state, embedding=file)
            methods |= {"network": _found(both, images)}
        return _measured(methods, labels, asked) | {"chosen": index.visual.smoothing.to_json()}


def _found(index: Index, images: Sequence[NDArray[np.uint8]]) -> Callable[[int], Array]:
    """Return what ``wordsight search --image`` does."""
    search = JointSearch(index)

    def found(query: int) -> Array:
        part = SoughtPicture.of(images[query])
        samples = index.visual.features.samples(images[query])
        hits = search.search(JointQuery(None, samples, picture=part), len(images))
        scores = np.empty(len(images))
        scores[[hit.position for hit in hits]] = [hit.score for hit in hits]
        return scores

    return found


def indexed(
    documents: Sequence[DocumentSource],
    folder: Path,
    random_state: int = 0,
    *,
    dynamic: bool = False,
    embedding: EmbeddingFile | None = None,
) -> Index:
    """Write pictures into a search index as ``wordsight index`` does."""
    settings = VisualSettings(dynamic=dynamic, random_state=random_state, embedding=embedding)
    some = [documents[at] for at in evenly_spread(len(documents), SCALE_SHOTS)]
    bags = (source_samples(each, settings).values for each in some)
    settings = settings.with_scale(FeatureScale.measure(bags, settings.features().resolution))
    analyser = Analyser()
    parts = [VisualPart(settings), StillsPart(), TextPart(analyser)]
    stored = {VISUAL: settings.to_json(), TEXT: analyser.to_json()}
    with IndexWriter(folder, parts, stored) as writer:
        videos: dict[str, list[DocumentSource]] = {}
        for each in documents:
            videos.setdefault(each.document.video_id, []).append(each)
        writer.add_many({name: ("", shots) for name, shots in videos.items()})
    return Index(folder)


def _measured(
    methods: dict[str, Callable[[int], Array]],
    labels: NDArray[np.int64],
    asked: NDArray[np.int64],
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name, scored in methods.items():
        say(f"ranking by {name} ...")
        results[name] = ranking_scores(scored, labels, asked)
    results["chance"] = _chance(labels, asked)
    return results | {
        "images": len(labels),
        "classes": int(labels.max()) + 1,
        "queries": len(asked),
    }


def ranking_scores(
    scored: Callable[[int], Array], labels: NDArray[np.int64], queries: NDArray[np.int64]
) -> dict[str, float]:
    """Return mean average precision and precision at 10, each query left out of its own ranking.

    Args:
        scored: Gives ``(D,)`` scores of all pictures for a query.
        labels: ``(D,)`` classes.
        queries: Which pictures to ask with.
    """
    precisions, tops = [], []
    for query in queries.tolist():
        scores = np.array(scored(query))
        scores[query] = -np.inf
        order = np.argsort(-scores, kind="stable")[:-1]
        right = labels[order] == labels[query]
        ranks = np.flatnonzero(right) + 1
        precisions.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
        tops.append(float(right[:10].mean()))
    return {"map": round(float(np.mean(precisions)), 4), "p10": round(float(np.mean(tops)), 4)}


def _methods(modelled: Modelled, random_state: int) -> dict[str, Callable[[int], Array]]:
    bags, packed, mixtures = modelled.bags, modelled.packed, modelled.model.mixtures_
    random = np.random.default_rng(random_state)
    few = [bag[random.permutation(len(bag))[:_DOCUMENT_SAMPLES]] for bag in bags]

    def smoothed(query: int) -> Array:
        density = modelled.background_without(query).log_density(bags[query])
        return smoothed_gains(packed, bags[query], density, KAPPA)

    # The background of the documents' samples is that of the whole collection for all queries.
    collection = CollectionBackground(packed[modelled.reference], LEAST_VARIANCE)
    densities = [collection.log_density(bag) for bag in few]
    return {
        "gmm": lambda query: log_likelihoods(packed, bags[query]),
        "gmm_background": smoothed,
        "standing": Standing(packed, bags, LEAST_VARIANCE).scores,
        "ala": lambda query: ala_scores(mixtures[query], packed),
        "document_generation": lambda query: document_generation(
            packed[query : query + 1], few, densities, KAPPA
        ),
    }


def _queries(labels: NDArray[np.int64], most: int | None, random_state: int) -> NDArray[np.int64]:
    """Choose pictures to ask with, of classes that have another picture."""
    possible = np.flatnonzero(np.bincount(labels)[labels] > 1)
    if most is None or len(possible) <= most:
        return possible
    return np.sort(np.random.default_rng(random_state).choice(possible, most, replace=False))


def _chance(labels: NDArray[np.int64], queries: NDArray[np.int64]) -> dict[str, float]:
    random = np.random.default_rng(0)
    return ranking_scores(lambda _: random.random(len(labels)), labels, queries)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.images", __doc__ or "", "a folder of pictures per class")
    parser.add_argument(
        "--queries",
        type=int,
        default=_MOST_QUERIES,
        metavar="N",
        help=f"ask with N pictures drawn at random (default {_MOST_QUERIES}; 0 for all)",
    )
    parser.add_argument("--embedding", type=Path, metavar="ONNX", help="also with this network")
    options = parser.parse_args(arguments)
    results = measure(options.data, queries=options.queries or None, network=options.embedding)
    names = {
        "default": "wordsight search (smoothing learned)",
        "network": "the same with the network",
        "gmm_background": "mixtures over the background",
        "gmm": "mixtures, plain likelihood",
        "standing": "mixtures, two likelihoods beside others",
        "ala": "mixtures, asymptotic approximation",
        "document_generation": "mixtures, document generation",
        "bag_of_words": "bag of visual words",
        "histogram": "colour histogram",
        "chance": "chance",
    }
    print_report(
        results,
        as_json=options.json,
        title=f"Query by picture: {results['images']} pictures, {results['classes']} classes",
        columns=[
            Column("row", "", justify="left"),
            Column("map", "MAP", ".3f"),
            Column("p10", "P@10", ".3f"),
        ],
        rows=[{"row": title} | results[key] for key, title in names.items() if key in results],
    )


if __name__ == "__main__":
    run_main(main)
