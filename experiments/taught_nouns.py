"""Taught words as nouns: is the true sentence chosen more often? CAD-120, leaving one subject out.

Run with ``python -m experiments.taught_nouns --data DIR [--subjects NAME ...] [--json]``; DIR is
that of :mod:`experiments.cad120`. A Faster R-CNN often takes a bowl for a cup, and has no class for
a box at all. So nouns are taught by things of the other subjects (:class:`AttributeLearner`; there
are no pixels, so what is shown of a tracked thing are the classes the detector saw in it and its
size and place), and what is tracked is labelled by them before sentences are learned as in
``accuracy`` of :mod:`experiments.cad120`. ``classes`` has the labels of the detector, ``taught``
those of taught words; both learn from and are asked about the same clips.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cad120_scores import MOST_THINGS
from experiments.data.cad120 import Segment, load_segments, make_lexicon, subjects_of
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import AttributeLearner, Lessons
from wordsight.evaluation import chance_accuracy, choice_accuracy
from wordsight.language import parse
from wordsight.meaning import ViewSettings, WordLearner
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Detections

__all__ = ["main", "measure"]

OTHER = "other"
_SAME = 0.5  # mean overlap with an annotated thing of which a track is an example
_SURE = 0.5  # probability from which a track is labelled by a taught word
_FRAME_RATE = 30
_PERSON = "class-1"  # as the detector calls people


def measure(data: Path, subjects: Sequence[str]) -> dict[str, Any]:
    """Measure both rows, leaving out one subject after the other."""
    segments = load_segments(data, "detections")
    right = dict.fromkeys(("classes", "taught", "chance"), 0.0)
    clips = 0
    by_subject = {}
    for subject in subjects:
        train = [one for one in segments if one.subject != subject]
        test = [one for one in segments if one.subject == subject]
        if not test:
            continue
        taught = _teach(train)
        counts = {"classes": _num_right(train, test)}
        counts["taught"] = _num_right(
            [_relabelled(one, taught) for one in train], [_relabelled(one, taught) for one in test]
        )
        counts["chance"] = chance_accuracy([len(one.candidates) for one in test]) * len(test)
        by_subject[subject] = {key: round(one / len(test), 4) for key, one in counts.items()}
        say(f"{subject}: {by_subject[subject]}")
        clips += len(test)
        right = {key: right[key] + counts[key] for key in right}
    rows = {key: round(one / max(clips, 1), 4) for key, one in right.items()}
    return rows | {"clips": clips, "subjects": by_subject}


def _num_right(train: Sequence[Segment], test: Sequence[Segment]) -> float:
    lexicon = make_lexicon({name for one in (*train, *test) for name in one.objects})
    view = ViewSettings(max_objects=MOST_THINGS, participants="tracks")
    learner = WordLearner(view_settings=view).fit(
        [one.clip for one in train],
        [parse(one.sentence, lexicon) for one in train],
        lexicon=lexicon,
        candidates=[[parse(text, lexicon) for text in one.candidates] for one in train],
    )
    words = learner.lexicon_.with_silent(entry.name for entry in lexicon)
    liked = [
        words.preferences(
            words.observe(one.clip), [parse(text, lexicon) for text in one.candidates]
        )
        for one in test
    ]
    truth = [one.candidates.index(one.sentence) for one in test]
    return choice_accuracy(liked, truth) * len(test)


def _teach(segments: Sequence[Segment]) -> AttributeLearner:
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


def _relabelled(segment: Segment, taught: AttributeLearner) -> Segment:
    seen = segment.clip.detections
    names = [word.name for word in taught.words_]
    labels = seen.labels.copy()
    for place in _things(seen):
        (answer,) = taught.recall([row[None] for row in _look(seen, place)])
        best = int(answer.probabilities[0].argmax())
        word = names[answer.classes[best]]
        if answer.probabilities[0][best] >= _SURE and word != OTHER:
            labels[place] = len(seen.label_names) + names.index(word)
    known = (*seen.label_names, *(f"taught {name}" for name in names))
    clip = replace(segment.clip, detections=seen.relabelled(labels, known))
    return replace(segment, clip=clip)


def _things(seen: Detections) -> list[NDArray[np.bool_]]:
    """Return per followed thing that is mostly no person ``(T, J)`` where its boxes are."""
    if seen.ids is None:
        return []
    places = [seen.mask & (seen.ids == number) for number in np.unique(seen.ids[seen.mask])]
    person = [number for number, name in enumerate(seen.label_names) if name == _PERSON]
    return [place for place in places if not np.isin(seen.labels[place], person).mean() > 0.5]


def _look(
    seen: Detections, place: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return how sure the detector is of each class in a thing; and its size and place."""
    votes = np.zeros(_NUM_CLASSES)
    for label, score in zip(seen.labels[place], seen.scores[place], strict=True):
        votes[_class_number(seen.label_names[label])] += score
    boxes = np.median(seen.boxes[place], axis=0)
    size = np.log(np.maximum(boxes[2:] - boxes[:2], 1.0))
    return votes / place.sum(), np.concatenate([size, (boxes[2:] + boxes[:2]) / 400])


_NUM_CLASSES = 92


def _class_number(name: str) -> int:
    digits = "".join(one for one in name if one.isdigit())
    return min(int(digits or 0), _NUM_CLASSES - 1)


def _shown(segment: Segment, place: NDArray[np.bool_]) -> str:
    """Return the name of the annotated thing that a track covers, or :data:`OTHER`."""
    seen = segment.clip.detections
    rows, places = np.nonzero(place)
    frames = np.round((seen.times[rows] - segment.clip.start) * _FRAME_RATE).astype(int)
    inside = frames < len(segment.boxes)
    if not inside.any():
        return OTHER
    pairs = zip(frames[inside], seen.boxes[rows[inside], places[inside]], strict=True)
    overlaps = np.array([box_iou(box[None], segment.boxes[frame])[0] for frame, box in pairs])
    mean = overlaps.mean(axis=0)
    return segment.objects[int(mean.argmax())] if mean.max(initial=0.0) >= _SAME else OTHER


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.taught_nouns", __doc__ or "", "folder of the CAD-120 data")
    parser.add_argument("--subjects", nargs="+", metavar="NAME", help="left out in turn (all)")
    options = parser.parse_args(arguments)
    results = measure(options.data, options.subjects or subjects_of(options.data))
    print_report(
        results,
        as_json=options.json,
        title=f"CAD-120, forced choice in {results['clips']} clips",
        columns=[Column("row", "", justify="left"), Column("accuracy", "accuracy", ".3f")],
        rows=[{"row": key, "accuracy": results[key]} for key in ("classes", "taught", "chance")],
    )


if __name__ == "__main__":
    run_main(main)
