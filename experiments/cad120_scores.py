"""One fold of the CAD-120 experiment: train, choose among candidates, find the patient, count."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120 import Segment, load_segments, make_lexicon
from experiments.street_twins import JudgedTwin, looking_only
from wordsight.errors import WordsightError
from wordsight.evaluation import FrequencyGuesser, chance_accuracy, choice_accuracy
from wordsight.evaluation import choices as best_of
from wordsight.language import Lexicon, parse
from wordsight.meaning import FAITHFUL, LearnedLexicon, ViewSettings, WordLearner
from wordsight.meaning.features import Participants
from wordsight.meaning.model.calibration import Calibration
from wordsight.meaning.model.lexicon import verb_of
from wordsight.meaning.tasks.judge import judge_choices
from wordsight.meaning.tasks.rivals import ForcedChoice, ask
from wordsight.meaning.training.calibration import fit_durations
from wordsight.perception.detectors.suppression import box_iou
from wordsight.records import Sentence

__all__ = ["Job", "Tally", "fit_words", "measure_fold", "view_of"]

Array = NDArray[np.float64]

ROWS = (
    "accuracy",
    "joint",
    "without_habits",
    "calibrated",
    "ml",
    "faithful",
    "blind",
    "blind_duration",
)
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
        people: Folders of what a network saw of people, for ``detections``.
    """

    train: Path
    test: Path | None
    setting: str
    subject: str | None
    people: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Tally:
    """What came of a fold, as sums over its clips, so that folds can be added.

    Attributes:
        clips: Number of test clips.
        right: Per row the sum of credits: of whole sentences.
        verbs: Per row the number of clips with the right verb.
        grounded: Clips with a patient, those whose track of it is right, and those in which some
            track would be.
        joint_grounded: The same for the joint model.
        twins: True sentences beside candidates that differ from them in one word.
    """

    clips: int
    right: dict[str, float]
    verbs: dict[str, float]
    grounded: tuple[int, int, int]
    joint_grounded: tuple[int, int, int]
    twins: tuple[JudgedTwin, ...] = ()


def measure_fold(job: Job) -> Tally:
    """Train and test one model and all baselines."""
    train, test = _folds(job)
    if not test and job.test is not None:
        raise WordsightError(f"nothing was seen of any clip in {job.test}, {job.setting}.")
    if not test:  # a subject none of whose videos a detector saw
        none = dict.fromkeys((*ROWS, "chance"), 0.0), dict.fromkeys(ROWS, 0.0)
        return Tally(0, *none, (0, 0, 0), (0, 0, 0))
    if not train:
        raise WordsightError(f"there is no clip to learn from in {job.train}, {job.setting}.")
    nouns = {name for segment in (*train, *test) for name in segment.objects}
    lexicon = make_lexicon(nouns)
    known, choices = ([_choice(one, lexicon) for one in fold] for fold in (train, test))
    asked = [choice.candidates for choice in choices]
    truth = [choice.truth for choice in choices]
    learner = fit_words(WordLearner(view_settings=view_of("tracks")), train, lexicon)
    joint = fit_words(WordLearner(view_settings=view_of("tracklets")), train, lexicon)
    faithful = fit_words(WordLearner(FAITHFUL, view_settings=view_of("tracks")), train, lexicon)
    likely = _uncalibrated(learner.calibrated_)
    # As `wordsight evaluate words` judges words.
    answers = judge_choices(learner.lexicon_, choices, known)
    rows = {
        "joint": _preferences(joint.lexicon_, test, asked),
        "without_habits": _preferences(looking_only(learner.lexicon_), test, asked),
        "calibrated": _preferences(learner.calibrated_, test, asked),
        "ml": _preferences(likely, test, asked),
        "faithful": _preferences(faithful.lexicon_, test, asked),
        "blind_duration": _blind_with_durations(known, choices, lexicon),
    }
    right = {name: choice_accuracy(row, truth) * len(test) for name, row in rows.items()}
    right["accuracy"] = sum(one.credit for one in answers)
    right["blind"] = sum(one.blind_credit for one in answers)
    right["chance"] = chance_accuracy([len(row) for row in asked]) * len(test)
    chosen = {name: best_of(row) for name, row in rows.items()}
    chosen["accuracy"] = [one.chosen for one in answers]
    chosen["blind"] = [one.guessed for one in answers]
    verbs = {name: _right_verbs(row, choices, lexicon) for name, row in chosen.items()}
    grounded = (_grounded(each.lexicon_, test) for each in (learner, joint))
    twins = tuple(_judged_twins(learner.lexicon_, known, choices))
    return Tally(len(test), right, verbs, *grounded, twins)


def view_of(participants: Participants) -> ViewSettings:
    """Return how clips are looked at, given what a participant may be."""
    return ViewSettings(max_objects=MOST_THINGS, participants=participants)


def _folds(job: Job) -> tuple[list[Segment], list[Segment]]:
    train = load_segments(job.train, job.setting, job.people)
    test = train if job.test is None else load_segments(job.test, job.setting, job.people)
    if job.subject is not None:
        train = [segment for segment in train if segment.subject != job.subject]
        test = [segment for segment in test if segment.subject == job.subject]
    return train, test


def fit_words(learner: WordLearner, train: Sequence[Segment], lexicon: Lexicon) -> WordLearner:
    """Learn words from labelled segments and the sentences that might be said of them."""
    return learner.fit(
        [segment.clip for segment in train],
        [parse(segment.sentence, lexicon) for segment in train],
        lexicon=lexicon,
        candidates=[[parse(text, lexicon) for text in s.candidates] for s in train],
    )


def _uncalibrated(lexicon: LearnedLexicon) -> LearnedLexicon:
    """Return the lexicon with raw log ratios; how long a clip lasts counts as it is."""
    durations = replace(lexicon.calibration.durations, weight=1.0)
    return replace(lexicon, calibration=Calibration(durations=durations))


def _preferences(
    lexicon: LearnedLexicon, test: Sequence[Segment], asked: Sequence[Sequence[Sentence]]
) -> list[Array]:
    # An object that no training clip shows has a name without a meaning.
    whole = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    return [
        whole.preferences(whole.observe(segment.clip), candidates)
        for segment, candidates in zip(test, asked, strict=True)
    ]


def _choice(segment: Segment, lexicon: Lexicon) -> ForcedChoice:
    true = parse(segment.sentence, lexicon)
    return next(ask(segment.clip, [true], [parse(text, lexicon) for text in segment.candidates]))


def _blind_with_durations(
    train: Sequence[ForcedChoice], test: Sequence[ForcedChoice], lexicon: Lexicon
) -> list[Array]:
    """Guess from how often sentences are true and how long their events last."""
    guesser: FrequencyGuesser[str] = FrequencyGuesser()
    texts = [[sentence.text for sentence in one.candidates] for one in train]
    guesser.fit(texts, [one.truth for one in train])
    seconds = [one.clip.end - one.clip.start for one in train]
    durations = fit_durations(seconds, [verb_of(one.true, lexicon) for one in train])
    rows = []
    for one in test:
        rates = guesser.scores([sentence.text for sentence in one.candidates])
        verbs = [verb_of(sentence, lexicon) for sentence in one.candidates]
        rows.append(rates + durations(verbs, one.clip.end - one.clip.start))
    return rows


def _judged_twins(
    lexicon: LearnedLexicon, train: Sequence[ForcedChoice], test: Sequence[ForcedChoice]
) -> Iterator[JudgedTwin]:
    """Judge true sentences beside candidates that differ in one word, without role priors."""
    words = looking_only(lexicon.with_silent(entry.name for entry in lexicon.lexicon))
    guesser: FrequencyGuesser[str] = FrequencyGuesser()
    guesser.fit(
        [[sentence.text for sentence in one.candidates] for one in train],
        [one.truth for one in train],
    )
    for one in test:
        seen, sentences = words.observe(one.clip), list(one.candidates)
        scorer = words.scorer(seen)
        liked = words.preferences(seen, sentences, scorer=scorer)
        held = words.scores(seen, sentences, scorer) >= words.threshold
        rates = guesser.scores([sentence.text for sentence in sentences])
        for number, other in enumerate(sentences):
            kind = _changed_part(one.true, other, words.lexicon)
            if kind is not None:
                yield JudgedTwin(
                    kind,
                    bool(liked[one.truth] > liked[number]),
                    bool(held[one.truth] and not held[number]),
                    (float(rates[one.truth]), float(rates[number])),
                )


def _changed_part(true: Sentence, other: Sentence, lexicon: Lexicon) -> str | None:
    """Return what the one word is in which two sentences differ; None if it is not one."""
    pairs = [(a, b) for a, b in zip(true.words, other.words, strict=False) if a != b]
    if len(true.words) != len(other.words) or len(pairs) != 1:
        return None
    (a, b), parts = pairs[0], [lexicon[word.entry].part for word in pairs[0]]
    if a.participants != b.participants or parts[0] is not parts[1]:
        return None
    return str(parts[0]).removeprefix("spatial-").removeprefix("motion-")


def _right_verbs(chosen: Sequence[int], asked: Sequence[ForcedChoice], lexicon: Lexicon) -> float:
    return float(
        sum(
            verb_of(one.candidates[place], lexicon) == verb_of(one.true, lexicon)
            for place, one in zip(chosen, asked, strict=True)
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
