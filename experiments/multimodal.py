"""Topics of words and a picture: words alone, the picture alone, and both together.

Run with ``python -m experiments.multimodal [--data DIR] [--collections NAME ...] [--json]``. Every
collection has documents with a picture and, most of them, words, and topics with both. Through a
search index, as ``wordsight search`` makes one:

- ``street``, ``tabletop``, ``workbench``: rendered films, eight to a video. Every sentence is shown
  two seconds late, so that some of them belong to the next film, and three in ten are missing. A
  topic is a sentence with a frame of a film it is true of; right are the other films it is true of.
- ``cards`` (with DIR, a folder that has ``cards``): photos of number cards with their colour and
  digit as words, three in ten without words and one in ten with those of another card.
- ``shots`` (DIR/videos): frames of shots with the name of their video; right is the same shot.
- ``wikipedia`` (DIR/wikipedia): pairs of texts and pictures, given as shares of topics and of
  visual words, compared by divergence; right are pairs of the same category.

``joint`` weighs the picture as ``wordsight search`` does, learned from the index alone. Further
rows are other ways to rank by the picture: ``plain`` likelihood, ``dynamic`` models of a second,
``document_generation``, ``kl`` between models, ``ala``, colour ``histogram`` and ``bag_of_words``.
Numbers are MAP; the topic's own document is left out.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.model_ranking import ala_scores, document_generation, kl_scores
from experiments.image_baselines import bags_of_words, colour_histograms
from experiments.image_folders import find_images, read_images
from experiments.images import indexed
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.wikipedia import read_wikipedia
from wordsight.retrieval import Document, DocumentSource, Index, JointSearch, joint_weight
from wordsight.retrieval.joint import weigh_evidence
from wordsight.retrieval.visual import BlockDct, PackedMixtures, Samples

__all__ = ["Collection", "Topic", "main", "measure", "measure_pairs", "rendered"]

Array = NDArray[np.float64]
Image = NDArray[np.uint8]

PER_VIDEO = 8
LATE, MISSING, WRONG = 2.0, 0.3, 0.1
_FILMS = 48
_TOPICS = 80
_RATE = 10.0
_EXTRA = ("plain", "dynamic", "document_generation", "kl", "ala", "histogram", "bag_of_words")
_PAIRS, _TEXT_MASS = 400, 5.0  # pairs the weight is learned from; words a text counts for
_SAMPLES = 150  # of a document that document generation looks at


@dataclass(frozen=True)
class Topic:
    """What is looked for.

    Attributes:
        text: The words.
        image: The picture.
        own: Number of the document it was taken from, which is left out.
        right: Numbers of the documents that are right.
    """

    text: str
    image: Image
    own: int
    right: frozenset[int]


@dataclass(frozen=True)
class Collection:
    """Documents and topics."""

    documents: Sequence[DocumentSource]
    topics: Sequence[Topic]


def rendered(world: str, seed: int = 0, films: int = _FILMS) -> Collection:
    """Film a world, with captions that come late or not at all."""
    random = np.random.default_rng(seed)
    made = list(_films(world, seed, films))
    order = random.permutation(len(made)).tolist()
    spans, said = [], []
    for place, at in enumerate(order):
        start = 0.0 if place % PER_VIDEO == 0 else spans[-1][1]
        spans.append((start, start + made[at].duration))
        kept = [text for text in made[at].sentences if random.random() >= MISSING]
        said.append([(start + LATE, text) for text in kept])
    documents, topics = [], []
    for place, at in enumerate(order):
        film, (start, end) = made[at], spans[place]
        first = place - place % PER_VIDEO
        heard = [each for one in said[first : first + PER_VIDEO] for each in one]
        texts = tuple(text for time, text in heard if start <= time < end)
        middle = film.num_frames // 2
        around = range(max(0, middle - 4), min(film.num_frames, middle + 5), 2)
        name = f"{world}{place // PER_VIDEO}"
        shot = place % PER_VIDEO
        key = start + middle / film.frame_rate
        frames = tuple(film.still(each) for each in around)
        times = tuple(start + each / film.frame_rate for each in around)
        document = Document(f"{name}:{shot:04d}", name, start, end, key, shot // 5)
        documents.append(DocumentSource(document, texts, (), frames, times))
        for text in dict.fromkeys(film.sentences):
            right = frozenset(
                other
                for other, number in enumerate(order)
                if other != place and text in made[number].sentences
            )
            if right:
                topics.append((text, film.still(film.num_frames // 4), place, right))
    chosen = np.sort(random.permutation(len(topics))[:_TOPICS])
    return Collection(documents, [Topic(*topics[at]) for at in chosen])


def _films(world: str, seed: int, films: int) -> Iterator[Any]:
    from wordsight import worlds

    if world == "street":
        yield from worlds.street(films, seed, frame_rate=_RATE)
    elif world == "tabletop":
        colours = ("red", "green", "blue")  # few, so that sentences come again
        yield from worlds.tabletop(-(-films // 7), seed, colours=colours, frame_rate=_RATE)
    else:
        made = worlds.workbench(
            films, seed, videos_per_protocol=4, steps=3, pace=1.0, frame_rate=_RATE
        )
        yield from islice(made, films)


def read_cards(folder: Path, seed: int = 0) -> Collection:
    """Read number cards, with words that are missing or wrong for some of them."""
    images, classes, _ = read_images(find_images(folder), BlockDct().longest)
    return _labelled(images, classes, [" ".join(one.split("_")[1:]) for one in classes], seed)


def read_shots(folder: Path, seed: int = 0) -> Collection:
    """Read frames of the shots of videos, which have the video's name as words."""
    from wordsight.errors import VideoError
    from wordsight.video import VideoReader, detect_shots

    images, classes, words = [], [], []
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        try:
            shots = [each for each in detect_shots(path) if each.end - each.start >= 0.5]
            with VideoReader(path) as reader:
                for number, shot in enumerate(shots):
                    for time in np.linspace(shot.start, shot.end, 8)[1:-1]:
                        images.append(_shrunk(reader.frame_at(float(time)).image))
                        classes.append(f"{path.name} {number}")
                        words.append(path.stem.replace("_", " ").replace("-", " "))
        except VideoError as error:
            say(f"left out: {error}")
    return _labelled(images, classes, words, seed)


def _shrunk(image: Image) -> Image:
    import cv2

    factor = min(1.0, BlockDct().longest / max(image.shape[:2]))
    size = (round(image.shape[1] * factor), round(image.shape[0] * factor))
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))


def _labelled(
    images: Sequence[Image], classes: Sequence[str], words: Sequence[str], seed: int
) -> Collection:
    """Make documents of pictures with words, and topics of some of them."""
    random = np.random.default_rng(seed)
    documents = []
    for number, image in enumerate(images):
        lot = random.random()
        other = words[int(random.integers(len(words)))]
        text = () if lot < MISSING else (other if lot < MISSING + WRONG else words[number],)
        name = f"{number:06d}"
        documents.append(DocumentSource(Document(name, name), text, (), (image,)))
    topics = []
    for at in np.sort(random.permutation(len(images))[:_TOPICS]).tolist():
        same = (n for n, label in enumerate(classes) if label == classes[at] and n != at)
        topics.append(Topic(words[at], images[at], at, frozenset(same)))
    return Collection(documents, [topic for topic in topics if topic.right])


def measure(collection: Collection, *, extra: Iterable[str] = _EXTRA) -> dict[str, float]:
    """Answer every topic in every way."""
    documents, topics = collection.documents, collection.topics
    still = [_still(each) for each in documents]
    with tempfile.TemporaryDirectory() as folder:
        index = indexed(still, Path(folder) / "static")
        search = JointSearch(index)
        weight = joint_weight(index)
        samples = [_samples(index, topic.image) for topic in topics]
        said = [search.text_evidence(search.text.query(topic.text))[0] for topic in topics]
        seen = [search.visual_evidence(each) for each in samples]
        rows = {
            "text": said,
            "picture": seen,
            "joint": [(1 - weight) * t + weight * v for t, v in zip(said, seen, strict=True)],
        }
        others = _other_ways(index, still, topics, samples)
        for name in extra:
            if name == "dynamic":
                if all(len(each.frames) < 2 for each in documents):
                    continue
                moving = indexed(documents, Path(folder) / "dynamic", dynamic=True)
                asked = [_samples(moving, topic.image) for topic in topics]
                rows[name] = [moving.visual.score(each.values) for each in asked]
            else:
                rows[name] = others[name]()
        return {name: mean_average_precision(scores, topics) for name, scores in rows.items()} | {
            "weight": round(weight, 5),
            "documents": len(documents),
            "topics": len(topics),
        }


def _still(source: DocumentSource) -> DocumentSource:
    """Return a document with its key frame alone."""
    key = source.frames[len(source.frames) // 2]
    return DocumentSource(source.document, source.text, source.video_text, (key,))


def _samples(index: Index, image: Image) -> Samples:
    return index.visual.features.samples(image)


def _other_ways(
    index: Index,
    documents: Sequence[DocumentSource],
    topics: Sequence[Topic],
    samples: Sequence[Samples],
) -> dict[str, Callable[[], list[Array]]]:
    """Return other ways to score all documents by the topics' pictures."""
    visual, settings = index.visual, index.visual.settings
    scale = settings.require_scale()
    packed = PackedMixtures.pack(
        settings.model().fit([_bag(index, each) for each in documents], scale=scale).mixtures_
    )
    queries = settings.model().fit([each.values for each in samples], scale=scale).mixtures_
    pictures = [each.frames[0] for each in documents] + [topic.image for topic in topics]
    count = len(documents)

    def generation() -> list[Array]:
        random = np.random.default_rng(0)
        bags = [scale.standardise(_bag(index, each)) for each in documents]
        few = [bag[random.permutation(len(bag))[:_SAMPLES]] for bag in bags]
        densities = [visual.background.log_density(bag) for bag in few]
        models = [PackedMixtures.pack(queries[n]) for n in range(len(topics))]
        return [document_generation(one, few, densities, visual.smoothing.kappa) for one in models]

    def words() -> list[Array]:
        places = len(visual.features.places)
        bags = [scale.standardise(visual.features.samples(one).values) for one in pictures]
        return list(bags_of_words([bag[:, :-places] for bag in bags])[count:, :count])

    return {
        "plain": lambda: [visual.score(each.values, background=False) for each in samples],
        "document_generation": generation,
        "kl": lambda: [kl_scores(queries[n], packed) for n in range(len(topics))],
        "ala": lambda: [ala_scores(queries[n], packed) for n in range(len(topics))],
        "histogram": lambda: list(colour_histograms(pictures)[count:, :count]),
        "bag_of_words": words,
    }


def _bag(index: Index, source: DocumentSource) -> Array:
    return index.visual.features.samples(source.frames[0]).values


def mean_average_precision(scores: Sequence[Array], topics: Sequence[Topic]) -> float:
    """Return the mean over topics of the average precision, their own document left out."""
    precisions = []
    for row, topic in zip(scores, topics, strict=True):
        order = np.argsort(-row, kind="stable")
        order = order[order != topic.own]
        ranks = np.flatnonzero(np.isin(order, list(topic.right))) + 1
        precisions.append(float((np.arange(1, len(ranks) + 1) / ranks).mean()))
    return round(float(np.mean(precisions)), 4)


def measure_pairs(folder: Path, seed: int = 0) -> dict[str, float]:
    """Rank the test pairs of Wikipedia by texts, by pictures and by both.

    The picture's factor is learned from training pairs, without their categories, as an index does.
    """
    train, test = read_wikipedia(folder)
    some = np.random.default_rng(seed).permutation(len(train.texts))[:_PAIRS]
    said, seen = (_divergences(each[some]) for each in (train.texts, train.pictures))
    rest = ~np.eye(len(some), dtype=bool)
    said, seen = (each[rest].reshape(len(some), -1) for each in (said, seen))
    likely = _TEXT_MASS * said
    targets = np.exp(likely - np.logaddexp.reduce(likely, axis=1)[:, None])
    weight = weigh_evidence(said, seen, targets)
    evidence = {"text": _divergences(test.texts), "picture": _divergences(test.pictures)}
    both = (1 - weight) * evidence["text"] + weight * evidence["picture"]
    topics = []
    for at, category in enumerate(test.categories):
        right = np.flatnonzero(test.categories == category)
        blank = np.zeros((1, 1, 3), np.uint8)
        topics.append(Topic("", blank, at, frozenset(right[right != at].tolist())))
    rows = evidence | {"joint": both}
    found = {name: mean_average_precision(list(table), topics) for name, table in rows.items()}
    sizes = {"documents": len(topics), "topics": len(topics)}
    return found | {"weight": round(weight, 5), **sizes}


def _divergences(shares: Array) -> Array:
    """Return ``(N, N)`` minus the divergence of every bag (a row) from every other, smoothed."""
    common = shares.mean(axis=0)
    smooth = 0.5 * shares / shares.sum(axis=1, keepdims=True) + 0.5 * common / common.sum()
    return np.asarray(shares / shares.sum(axis=1, keepdims=True) @ np.log(smooth / common).T)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.multimodal", __doc__ or "")
    parser.add_argument(
        "--data", type=Path, metavar="DIR", help="folder with cards, videos and wikipedia"
    )
    parser.add_argument("--collections", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--seed", type=int, default=0, help="of films, captions and topics")
    options = parser.parse_args(arguments)
    seed, data = options.seed, options.data
    ways: dict[str, Callable[[], dict[str, float]]] = {
        world: lambda world=world: measure(rendered(world, seed))
        for world in ("street", "tabletop", "workbench")
    }
    if data is not None:
        found = {
            "cards": lambda: measure(read_cards(data / "cards", seed)),
            "shots": lambda: measure(read_shots(data / "videos", seed)),
            "wikipedia": lambda: measure_pairs(data / "wikipedia", seed),
        }
        folders = {"cards": "cards", "shots": "videos", "wikipedia": "wikipedia"}
        there = {name: way for name, way in found.items() if (data / folders[name]).is_dir()}
        if not there:
            parser.error(f"{data} has none of the folders {', '.join(folders.values())}.")
        ways |= there
    results = {}
    for name in options.collections or ways:
        if name not in ways:
            parser.error(f"there is no collection {name}; expected some of {', '.join(ways)}.")
        say(f"{name} ...")
        results[name] = ways[name]()
    shown = ("text", "picture", "joint", *_EXTRA, "weight")
    print_report(
        results,
        as_json=options.json,
        title="Words, a picture, and both: MAP",
        columns=[
            Column("row", "", justify="left"),
            *(Column(key, key.replace("_", " "), ".3f") for key in shown),
        ],
        rows=[dict.fromkeys(shown, "") | {"row": name} | row for name, row in results.items()],
    )


if __name__ == "__main__":
    run_main(main)
