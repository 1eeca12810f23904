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
from wordsight.meaning import FAITHFUL, LearnedLexicon, Looking, WordLearner
from wordsight.meaning.calibration import Calibration, fit_durations
from wordsight.meaning.habits import Habits
from wordsight.perception.suppression import box_iou
from wordsight.records import Sentence

__all__ = ["Job", "Tally", "measure_fold"]

Array = NDArray[np.float64]

ROWS = ("accuracy", "without_habits", "calibrated", "ml", "faithful", "blind", "blind_duration")
"""What is measured of every clip, besides chance."""

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
        grounded: Clips with a patient, and those whose track of it is right.
    """

    clips: int
    right: dict[str, float]
    verbs: dict[str, float]
    grounded: tuple[int, int]


def measure_fold(job: Job) -> Tally:
    """Train and test one model and all baselines."""
    train, test = _folds(job)
    if not test:  # a subject none of whose videos a detector saw
        return Tally(0, dict.fromkeys((*ROWS, "chance"), 0.0), dict.fromkeys(ROWS, 0.0), (0, 0))
    if not train:
        raise WordsightError(f"there is no clip to learn from in {job.train}, {job.setting}.")
    nouns = {name for segment in (*train, *test) for name in segment.objects}
    lexicon = make_lexicon(nouns)
    asked = [[parse(text, lexicon) for text in segment.candidates] for segment in test]
    truth = [segment.candidates.index(segment.sentence) for segment in test]
    learner = _fit(WordLearner(looking=Looking(most=MOST_THINGS)), train, lexicon)
    faithful = _fit(WordLearner(FAITHFUL, looking=Looking(most=MOST_THINGS)), train, lexicon)
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
    return replace(lexicon, calibration=replace(lexicon.calibration, habits=Habits()))


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


def _grounded(lexicon: LearnedLexicon, test: Sequence[Segment]) -> tuple[int, int]:
    """Count clips whose patient is found: mean overlap of its track with the annotated one."""
    asked = right = 0
    lexicon = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    for segment in test:
        sentence = lexicon.sentence(segment.sentence)
        if sentence.num_participants < 2:
            continue
        asked += 1
        patient = lexicon.track(segment.clip, sentence).tracks[1]
        boxes = _annotated(segment, patient.label)
        frames = np.round((patient.times - segment.clip.start) * 30).astype(int)
        overlaps = np.zeros(len(segment.boxes))
        for frame, box in zip(frames, patient.boxes, strict=True):
            if frame < len(boxes):
                overlaps[frame] = box_iou(box[None], boxes[frame]).max(initial=0.0)
        # Frames in which the object is not annotated cannot be right or wrong.
        known = np.asarray((boxes[..., 2] > boxes[..., 0]).any(axis=1))
        right += bool(known.any() and overlaps[: len(known)][known].mean() >= 0.5)
    return asked, right


def _annotated(segment: Segment, noun: str) -> Array:
    """Return ``(T, n, 4)`` boxes of the objects of a name with which something is done."""
    named = np.array([name == noun for name in segment.objects])
    chosen = named & segment.moved
    return segment.boxes[:, chosen if chosen.any() else named]
