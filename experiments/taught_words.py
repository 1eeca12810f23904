"""Taught words in sentences: are they judged better where things are named by taught words?

Run with ``python -m experiments.taught_words [--films N] [--seed N] [--data DIR] [--json]``. Both
parts learn words by maximum likelihood from the same clips and sentences with and without names of
things, as ``wordsight learn`` does with and without ``--attributes``.

``street``: films of three places, each left out in turn; F1 as in :mod:`experiments.acl2013`. What
is seen are true boxes with two classes, person and thing, as of a detector that has no class for
what people carry. Words are taught by pictures cut out of the films of the other places: nouns for
the sentences there (NV, ALL), "big" and "small" for those of ``--words further`` (adjectives); then
things of all films are named by their pictures.

``cad120`` (with ``--data``): the detections of :mod:`experiments.cad120`, one subject left out; the
share of clips whose true sentence is chosen among its candidates. A Faster R-CNN often takes a bowl
for a cup, and has no class for a box at all. There are no pixels, so what is shown of a thing are
the classes the detector saw in it and its size and place; its word is the name of the annotated
thing that it covers.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from experiments.cad120_scores import fit_words, view_of
from experiments.data.cad120 import Segment, load_segments, make_lexicon, subjects_of
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_corpus import StreetClip, true_clip
from experiments.street_folds import measure_fold
from experiments.street_sentences import (
    FURTHER_LEXICON,
    FURTHER_SENTENCES,
    FurtherFilm,
    choose_test_sentences,
)
from wordsight.attributes import AttributeLearner, Lessons
from wordsight.attributes.recall.videos import crop_box
from wordsight.evaluation import chance_accuracy, choice_accuracy
from wordsight.language import default_lexicon, parse
from wordsight.meaning import ON_FILM, WordLearner
from wordsight.meaning.features import AnnotatedClip, get_feature_set, with_names
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Clip, Detections
from wordsight.video import VideoReader
from wordsight.workflows.annotator import ClipAnnotator
from wordsight.worlds import street, write_world
from wordsight.worlds.street import StreetFilm

__all__ = ["main", "measure_cad120", "measure_street"]

Array = NDArray[np.float64]

ROWS = ("without", "taught", "blind")
OTHER = "other"
_FRAME_RATE = 10.0  # of the street; nothing there is looked at more often
_LESSON_EVERY = 20  # frames between two pictures of a thing
_SAME = 0.5  # mean overlap with an annotated thing of which a track is an example
_CAD_RATE = 30
_PERSON = "class-1"  # as the detector calls people
_NUM_CLASSES = 92


def measure_street(count: int, seed: int, folder: Path) -> dict[str, dict[str, float]]:
    """Return F1 per kind of sentences, without and with taught words."""
    films = list(street(count, seed, frame_rate=_FRAME_RATE))
    write_world(films, folder)
    places = [str(film.truth.record()["place"]) for film in films]
    adjectives = [parse(text, FURTHER_LEXICON) for text in FURTHER_SENTENCES["adjectives"]]
    settings = replace(ON_FILM, discriminative=None, restarts=1, random_state=seed)
    rows: dict[str, dict[str, list[float]]] = {}
    for place in dict.fromkeys(places):
        nouns = choose_test_sentences(films, places, place)
        for asked, sizes in ((nouns, False), ({"adjectives": adjectives}, True)):
            # It answers what experiments ask of a film.
            said = [cast(StreetFilm, FurtherFilm(one, seed)) if sizes else one for one in films]
            inside = [p != place for p in places]
            taught = _teach_street(
                [one for one, own in zip(films, inside, strict=True) if own], folder, sizes=sizes
            )
            grammar = FURTHER_LEXICON if sizes else default_lexicon()
            for row in ("without", "taught"):
                namer = ClipAnnotator(taught if row == "taught" else None)
                items = [
                    StreetClip(told, where, clip, clip)
                    for film, told, where in zip(films, said, places, strict=True)
                    for clip in [namer.name_film(folder / f"{film.name}.mp4", _two_classes(film))]
                ]
                fold = measure_fold(
                    [item for item in items if item.place != place],
                    [item for item in items if item.place == place],
                    asked,
                    settings=replace(settings, features=namer.features(settings.features, grammar)),
                    words=0,
                    models=("learned",),
                    lexicon=FURTHER_LEXICON if sizes else None,
                )
                for name, f1 in fold.f1.items():
                    found = rows.setdefault(name, {one: [] for one in ROWS})
                    found[row].append(f1["learned"])
                    if row == "taught":
                        found["blind"].append(f1["blind"])
                    say(f"{place}, {name}, {row}: {f1['learned']:.3f}, blind {f1['blind']:.3f}")
    return {
        name: {row: round(float(np.mean(f1)), 4) for row, f1 in found.items()}
        for name, found in rows.items()
    }


def _two_classes(film: StreetFilm) -> Clip:
    clip = true_clip(film)
    seen = clip.detections
    people = np.array([name == "person" for name in seen.label_names])
    labels = np.where(people[seen.labels], 0, 1)
    return replace(clip, detections=seen.relabelled(labels, ("person", "thing")))


def _teach_street(films: Sequence[StreetFilm], folder: Path, *, sizes: bool) -> AttributeLearner:
    """Teach nouns, or sizes, by pictures cut out of films."""
    pictures, words = [], []
    for film in films:
        further = FurtherFilm(film, 0)
        with VideoReader(folder / f"{film.name}.mp4") as reader:
            for row in range(0, film.num_frames, _LESSON_EVERY):
                image = reader.frame_at(row / film.frame_rate).image
                for name, boxes in film.truth.boxes.items():
                    word = further.size_of(name) if sizes else film.truth.kinds[name]
                    if word is not None and np.isfinite(boxes[row]).all():
                        pictures.append(crop_box(image, boxes[row]).copy())
                        words.append(word)
    return AttributeLearner(num_attributes=1, relations=False).fit(pictures, words)


def measure_cad120(data: Path, subjects: Sequence[str]) -> dict[str, float]:
    """Return the share of right sentences without and with taught words, and by chance."""
    segments = load_segments(data, "detections")
    right = dict.fromkeys(("without", "taught", "chance"), 0.0)
    clips = 0
    for subject in subjects:
        train = [one for one in segments if one.subject != subject]
        test = [one for one in segments if one.subject == subject]
        if not test:
            continue
        words = tuple(sorted({OTHER, *(name for one in train for name in one.objects)}))
        named = _named_by_others(train, words), _named(test, _teach_cad120(train), words)
        found = {"without": _num_right(train, test), "taught": _num_right(*named)}
        found["chance"] = chance_accuracy([len(one.candidates) for one in test]) * len(test)
        say(f"{subject}: { {key: round(one / len(test), 4) for key, one in found.items()} }")
        clips += len(test)
        right = {key: right[key] + found[key] for key in right}
    return {key: round(one / max(clips, 1), 4) for key, one in right.items()} | {"clips": clips}


def _num_right(train: Sequence[Segment], test: Sequence[Segment]) -> float:
    """Return how many true sentences are chosen by words learned from other clips."""
    nouns = {name for one in (*train, *test) for name in one.objects}
    lexicon = make_lexicon(nouns)
    settings = WordLearner().settings
    features = get_feature_set(settings.features)
    if isinstance(train[0].clip, AnnotatedClip):
        features = with_names(features, train[0].clip.groups, nouns)
    plain = replace(settings, features=features, discriminative=None, restarts=1)
    learner = fit_words(WordLearner(plain, view_settings=view_of("tracks")), list(train), lexicon)
    words = learner.lexicon_.with_silent(entry.name for entry in lexicon)
    liked = [
        words.preferences(words.observe(one.clip), [parse(s, lexicon) for s in one.candidates])
        for one in test
    ]
    truth = [one.candidates.index(one.sentence) for one in test]
    return choice_accuracy(liked, truth) * len(test)


def _teach_cad120(segments: Sequence[Segment]) -> AttributeLearner:
    """Teach the name of every tracked thing that is annotated, and of a few that are not."""
    looks, words = [], []
    for segment in segments:
        for place in _things(segment.clip.detections):
            looks.append(_look(segment.clip.detections, place))
            words.append(_shown(segment, place))
    kinds = tuple(np.array(kind) for kind in zip(*looks, strict=True))
    silent = (None,) * len(words)
    lessons = Lessons(kinds, tuple(words), np.zeros((len(words), 0)), silent)
    return AttributeLearner(num_attributes=1, relations=False).fit_lessons(lessons)


def _named_by_others(segments: Sequence[Segment], words: tuple[str, ...]) -> list[Segment]:
    """Name the things of every subject by words taught with those of the others.

    Words that were taught with the very things they name would be right more often than later, and
    sentences would rely on them too much.
    """
    return [
        one
        for subject in sorted({one.subject for one in segments})
        for one in _named(
            [one for one in segments if one.subject == subject],
            _teach_cad120([one for one in segments if one.subject != subject]),
            words,
        )
    ]


def _named(
    segments: Sequence[Segment], taught: AttributeLearner, words: tuple[str, ...]
) -> list[Segment]:
    """Return segments whose tracked things have the names of taught words."""
    found = []
    for segment in segments:
        clip, seen = segment.clip, segment.clip.detections
        named = np.full((1, *seen.mask.shape), -1, dtype=np.int64)
        for place in _things(seen):
            (answer,) = taught.recall([row[None] for row in _look(seen, place)])
            if answer.known[0]:
                named[0, place] = words.index(taught.words_[int(answer.words[0])].name)
        own = AnnotatedClip(clip.video_id, clip.start, clip.end, seen, (words,), named)
        found.append(replace(segment, clip=own))
    return found


def _things(seen: Detections) -> list[NDArray[np.bool_]]:
    """Return per followed thing that is mostly no person ``(T, J)`` where its boxes are."""
    if seen.ids is None:
        return []
    places = [seen.mask & (seen.ids == number) for number in np.unique(seen.ids[seen.mask])]
    person = [number for number, name in enumerate(seen.label_names) if name == _PERSON]
    return [place for place in places if not np.isin(seen.labels[place], person).mean() > 0.5]


def _look(seen: Detections, place: NDArray[np.bool_]) -> tuple[Array, Array]:
    """Return how sure the detector is of each class in a thing; and its size and place."""
    votes = np.zeros(_NUM_CLASSES)
    for label, score in zip(seen.labels[place], seen.scores[place], strict=True):
        votes[_class_number(seen.label_names[label])] += score
    boxes = np.median(seen.boxes[place], axis=0)
    size = np.log(np.maximum(boxes[2:] - boxes[:2], 1.0))
    return votes / place.sum(), np.concatenate([size, (boxes[2:] + boxes[:2]) / 400])


def _class_number(name: str) -> int:
    digits = "".join(one for one in name if one.isdigit())
    return min(int(digits or 0), _NUM_CLASSES - 1)


def _shown(segment: Segment, place: NDArray[np.bool_]) -> str:
    """Return the name of the annotated thing that a track covers, or :data:`OTHER`."""
    seen = segment.clip.detections
    rows, places = np.nonzero(place)
    frames = np.round((seen.times[rows] - segment.clip.start) * _CAD_RATE).astype(int)
    inside = frames < len(segment.boxes)
    if not inside.any():
        return OTHER
    pairs = zip(frames[inside], seen.boxes[rows[inside], places[inside]], strict=True)
    overlaps = np.array([box_iou(box[None], segment.boxes[frame])[0] for frame, box in pairs])
    mean = overlaps.mean(axis=0)
    return segment.objects[int(mean.argmax())] if mean.max(initial=0.0) >= _SAME else OTHER


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.taught_words", __doc__ or "")
    parser.add_argument("--films", type=int, default=61, help="of the street; 0 for none (61)")
    parser.add_argument("--seed", type=int, default=0, help="of the films and of learning (0)")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of the CAD-120 data")
    parser.add_argument("--subjects", nargs="+", metavar="NAME", help="left out in turn (all)")
    options = parser.parse_args(arguments)
    results: dict[str, Any] = {}
    if options.films:
        with tempfile.TemporaryDirectory() as folder:
            found = measure_street(options.films, options.seed, Path(folder) / "films")
        results |= {f"street, {name}": row for name, row in found.items()}
    if options.data is not None:
        subjects = options.subjects or subjects_of(options.data)
        results["CAD-120"] = measure_cad120(options.data, subjects)
    print_report(
        results,
        as_json=options.json,
        title="F1 on the street, share of right sentences on CAD-120",
        columns=[
            Column("sentences", "", justify="left"),
            *(Column(key, key, ".3f") for key in (*ROWS, "chance")),
        ],
        rows=[{"sentences": name, **row} for name, row in results.items()],
    )


if __name__ == "__main__":
    run_main(main)
