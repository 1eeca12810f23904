"""One fold of the CAD-120 experiment: train, choose among candidates, find the patient, count."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120 import Segment, load_segments, make_lexicon
from wordsight.errors import WordsightError
from wordsight.evaluation import FrequencyGuesser, chance_accuracy, choice_accuracy, choices
from wordsight.language import Lexicon, parse
from wordsight.meaning import FAITHFUL, LearnedLexicon, ViewSettings, WordLearner
from wordsight.meaning.model.calibration import Calibration, RolePriors
from wordsight.meaning.training.conditional import fit_durations
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Sentence

__all__ = ["Job", "Tally", "measure_fold"]

Array = NDArray[np.float64]

ROWS = ("accuracy", "without_habits", "calibrated", "ml", "faithful", "blind", "blind_duration")
"""What is measured of every clip, besides chance."""

_SAME = 0.5  # mean overlap from which a track is the annotated one

MOST_THINGS = 9
"""Things per clip that words may speak of; detectors report more, rarely seen for long."""


@dataclass(frozen=True)
class Job:
    """One model to train and test.

    Attributes:
        train: Folder of the training data.
        test: Folder of the test data; the training folder if None.
        setting: ``detections`` or ``tracks``.
        subject: The subject left out of training and tested on; everything if None.
    """

    train: Path
    test: Path | None
    setting: str
    subject: str | None


@dataclass(frozen=True)
class Tally:
    """What came of a fold, as sums over its clips, so that folds can be added.

    Attributes:
        clips: Number of test clips.
        right: Per row the sum of credits: of whole sentences.
        verbs: Per row the number of clips with the right verb.
        grounded: Clips with a patient, those whose track of it is right, and those in which some
            track would be.
    """

    clips: int
    right: dict[str, float]
    verbs: dict[str, float]
    grounded: tuple[int, int, int]


def measure_fold(job: Job) -> Tally:
    """Train and test one model and all baselines."""
    train, test = _folds(job)
    if not test:  # a subject none of whose videos a detector saw
        return Tally(0, dict.fromkeys((*ROWS, "chance"), 0.0), dict.fromkeys(ROWS, 0.0), (0, 0, 0))
    if not train:
        raise WordsightError(f"there is no clip to learn from in {job.train}, {job.setting}.")
    nouns = {name for segment in (*train, *test) for name in segment.objects}
    lexicon = make_lexicon(nouns)
    asked = [[parse(text, lexicon) for text in segment.candidates] for segment in test]
    truth = [segment.candidates.index(segment.sentence) for segment in test]
    learner = _fit(WordLearner(view_settings=ViewSettings(max_objects=MOST_THINGS)), train, lexicon)
    faithful = _fit(
        WordLearner(FAITHFUL, view_settings=ViewSettings(max_objects=MOST_THINGS)), train, lexicon
    )
    likely = _uncalibrated(learner.calibrated_)
    rows = {
        "accuracy": _preferences(learner.lexicon_, test, asked),
        "without_habits": _preferences(_looking_only(learner.lexicon_), test, asked),
        "calibrated": _preferences(learner.calibrated_, test, asked),
        "ml": _preferences(likely, test, asked),
        "faithful": _preferences(faithful.lexicon_, test, asked),
        "blind": _blind(train, test),
        "blind_duration": _blind_with_durations(train, test, lexicon),
    }
    right = {name: choice_accuracy(row, truth) * len(test) for name, row in rows.items()}
    right["chance"] = chance_accuracy([len(row) for row in asked]) * len(test)
    verbs = {name: _right_verbs(row, truth, asked, lexicon) for name, row in rows.items()}
    return Tally(len(test), right, verbs, _grounded(learner.lexicon_, test))


def _folds(job: Job) -> tuple[list[Segment], list[Segment]]:
    train = list(load_segments(job.train, job.setting))
    test = train if job.test is None else list(load_segments(job.test, job.setting))
    if job.subject is not None:
        train = [segment for segment in train if segment.subject != job.subject]
        test = [segment for segment in test if segment.subject == job.subject]
    return train, test


def _fit(learner: WordLearner, train: Sequence[Segment], lexicon: Lexicon) -> WordLearner:
    return learner.fit(
        [segment.clip for segment in train],
        [parse(segment.sentence, lexicon) for segment in train],
        lexicon=lexicon,
        candidates=[[parse(text, lexicon) for text in s.candidates] for s in train],
    )


def _looking_only(lexicon: LearnedLexicon) -> LearnedLexicon:
    """Return the lexicon without what is usually said."""
    return replace(lexicon, calibration=replace(lexicon.calibration, role_priors=RolePriors()))


def _uncalibrated(lexicon: LearnedLexicon) -> LearnedLexicon:
    """Return the lexicon with raw log ratios; how long a clip lasts counts as it is."""
    durations = replace(lexicon.calibration.durations, weight=1.0)
    return replace(lexicon, calibration=Calibration(durations=durations))


def _preferences(
    lexicon: LearnedLexicon, test: Sequence[Segment], asked: Sequence[list[Sentence]]
) -> list[Array]:
    # An object that no training clip shows has a name without a meaning.
    whole = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    return [
        whole.preferences(whole.observe(segment.clip), candidates)
        for segment, candidates in zip(test, asked, strict=True)
    ]


def _guesser(train: Sequence[Segment]) -> FrequencyGuesser[str]:
    truth = [segment.candidates.index(segment.sentence) for segment in train]
    return FrequencyGuesser[str]().fit([segment.candidates for segment in train], truth)


def _blind(train: Sequence[Segment], test: Sequence[Segment]) -> list[Array]:
    guesser = _guesser(train)
    return [guesser.scores(segment.candidates) for segment in test]


def _blind_with_durations(
    train: Sequence[Segment], test: Sequence[Segment], lexicon: Lexicon
) -> list[Array]:
    """Guess from how often sentences are true and how long their events last."""
    seconds = [segment.clip.end - segment.clip.start for segment in train]
    durations = fit_durations(seconds, [_verb(s.sentence, lexicon) for s in train])
    rows = []
    for segment, rates in zip(test, _blind(train, test), strict=True):
        verbs = [_verb(text, lexicon) for text in segment.candidates]
        rows.append(rates + durations(verbs, segment.clip.end - segment.clip.start))
    return rows


@cache
def _verb(text: str, lexicon: Lexicon) -> str:
    words = parse(text, lexicon).words
    return next(word.entry for word in words if lexicon[word.entry].part == "verb")


def _right_verbs(
    rows: Sequence[Array],
    truth: Sequence[int],
    asked: Sequence[list[Sentence]],
    lexicon: Lexicon,
) -> float:
    chosen = choices(rows)
    return float(
        sum(
            _verb(candidates[one].text, lexicon) == _verb(candidates[other].text, lexicon)
            for one, other, candidates in zip(chosen, truth, asked, strict=True)
        )
    )


def _grounded(lexicon: LearnedLexicon, test: Sequence[Segment]) -> tuple[int, int, int]:
    """Count clips with a patient, those whose track of it is right, and where any would be."""
    asked = right = possible = 0
    lexicon = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    for segment in test:
        sentence = lexicon.sentence(segment.sentence)
        if sentence.num_participants < 2:
            continue
        asked += 1
        patient = lexicon.track(segment.clip, sentence).tracks[1]
        boxes = _annotated(segment, patient.label)
        right += _overlap(patient.times, patient.boxes, segment, boxes) >= _SAME
        possible += _any_would_be_right(segment, boxes)
    return asked, right, possible


def _any_would_be_right(segment: Segment, annotated: Array) -> bool:
    """Tell whether a detector saw the patient at all, so that some track of it is right."""
    seen = segment.clip.detections
    if seen.ids is None:
        return False
    for identity in np.unique(seen.ids[seen.mask]):
        rows, places = np.nonzero(seen.mask & (seen.ids == identity))
        boxes = seen.boxes[rows, places]
        if _overlap(seen.times[rows], boxes, segment, annotated) >= _SAME:
            return True
    return False


def _overlap(times: Array, boxes: Array, segment: Segment, annotated: Array) -> float:
    """Return the mean overlap of a track with the annotated one of ``(T, n, 4)`` that is nearer."""
    frames = np.round((times - segment.clip.start) * 30).astype(int)
    overlaps = np.zeros(len(annotated))
    for frame, box in zip(frames, boxes, strict=True):
        if frame < len(annotated):
            overlaps[frame] = box_iou(box[None], annotated[frame]).max(initial=0.0)
    # Frames in which the object is not annotated cannot be right or wrong.
    known = np.asarray((annotated[..., 2] > annotated[..., 0]).any(axis=1))
    return float(overlaps[known].mean()) if known.any() else 0.0


def _annotated(segment: Segment, noun: str) -> Array:
    """Return ``(T, n, 4)`` boxes of the objects of a name with which something is done."""
    named = np.array([name == noun for name in segment.objects])
    chosen = named & segment.moved
    return segment.boxes[:, chosen if chosen.any() else named]
