"""Tasks on one clip: scoring, choosing, tracking and explaining sentences.

Each function takes a learned lexicon and a clip; :class:`LearnedLexicon` has them as methods.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import collect_losses
from wordsight.language import PartOfSpeech
from wordsight.meaning.checks import SentenceLike
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features import Observation
from wordsight.meaning.features.columns import runs
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.scoring.scorer import BestPath
from wordsight.meaning.tasks.results import (
    SentenceExplanation,
    SentenceScore,
    TrackedSentence,
    WordTime,
)
from wordsight.records import Clip, Sentence, Track

__all__ = ["choose", "evidence_of", "explain", "score", "score_all", "track"]

Array = NDArray[np.float64]

_FAILING = 0.25
"""A word fails in frames with less than this share of the evidence typical of it."""


def score(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceScore:
    """Score how well a sentence fits a clip, and judge whether it is true."""
    return score_all(lexicon, clip, [sentence])[0]


def score_all(
    lexicon: LearnedLexicon, clip: Clip, sentences: Sequence[SentenceLike]
) -> list[SentenceScore]:
    """Score several sentences about one clip with shared inference."""
    parsed = lexicon.sentences(sentences)
    observation = lexicon.observe(clip)
    scorer = lexicon.scorer(observation)
    with collect_losses() as losses:
        ratios = lexicon.log_ratios(observation, parsed, scorer)
        scores = lexicon.scores(observation, parsed, scorer)
    preferences = lexicon.calibrated(ratios, parsed, observation.duration)
    # Without detections no sentence is true, whatever the threshold.
    detected = bool(observation.view.present.any())
    return [
        SentenceScore(
            clip.video_id,
            clip.start,
            clip.end,
            float(scores[k]),
            sentence.text,
            bool(scores[k] >= lexicon.threshold) and detected,
            float(ratios[k]),
            float(preferences[k]),
            max(losses, default=0.0),
        )
        for k, sentence in enumerate(parsed)
    ]


def choose(lexicon: LearnedLexicon, clip: Clip, candidates: Sequence[SentenceLike]) -> int:
    """Return the index of the sentence that describes a clip best."""
    if not candidates:
        raise MeaningError("there is nothing to choose from: no sentences were given.")
    observation = lexicon.observe(clip)
    return int(np.argmax(lexicon.preferences(observation, lexicon.sentences(candidates))))


def track(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> TrackedSentence:
    """Find the best track of every participant, and the states of every word.

    A clip without detections gives tracks without boxes.
    """
    parsed = lexicon.sentence(sentence)
    observation = lexicon.observe(clip)
    with collect_losses() as losses:
        path, words = _best_explanation(lexicon, observation, parsed)
    scored = score(lexicon, clip, parsed)
    tracks = tuple(
        _track(lexicon, clip, observation, parsed, path, p) for p in range(parsed.num_participants)
    )
    return TrackedSentence(
        clip.video_id,
        clip.start,
        clip.end,
        scored.score,
        parsed,
        observation.view.times,
        tracks,
        words,
        max(*losses, scored.lost_mass, 0.0),
    )


def explain(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceExplanation:
    """Explain which word fits when, and which one fits least."""
    parsed = lexicon.sentence(sentence)
    observation = lexicon.observe(clip)
    with collect_losses() as losses:
        words = evidence_of(lexicon, observation, parsed)
    scored = score(lexicon, clip, parsed)
    weakest = min(words, key=lambda word: word.fit)
    return SentenceExplanation(
        clip.video_id,
        clip.start,
        clip.end,
        scored.score,
        parsed.text,
        observation.view.times,
        words,
        weakest.word,
        _longest_failure(observation.view.times, weakest),
        max(*losses, scored.lost_mass, 0.0),
    )


def evidence_of(
    lexicon: LearnedLexicon, observation: Observation, sentence: Sentence
) -> tuple[WordTime, ...]:
    """Return the evidence of every word under the best explanation of a clip."""
    return _best_explanation(lexicon, observation, sentence)[1]


def _best_explanation(
    lexicon: LearnedLexicon, observation: Observation, sentence: Sentence
) -> tuple[BestPath | None, tuple[WordTime, ...]]:
    if not observation.num_frames:
        empty = np.zeros(0)
        states = empty.astype(np.int64)
        return None, tuple(WordTime(str(w), states, empty, empty) for w in sentence.words)
    path = lexicon.scorer(observation).best_path(sentence)
    words: list[WordTime] = []
    for number, word in enumerate(sentence.words):
        states = path.states[:, number]
        logs = lexicon.tables[word.entry].logs(observation)
        objects = tuple(path.objects[:, p] for p in word.participants)
        evidence = logs[(np.arange(len(states)), *objects, states)]
        typical = _typical_evidence(lexicon, word.entry)[states]
        words.append(WordTime(str(word), states, evidence, typical))
    return path, tuple(words)


def _track(
    lexicon: LearnedLexicon,
    clip: Clip,
    observation: Observation,
    sentence: Sentence,
    path: BestPath | None,
    participant: int,
) -> Track:
    frames, columns = _detections_of(clip, observation, path, participant)
    times = clip.times[frames]
    return Track(
        clip.video_id,
        float(times[0]) if len(times) else clip.start,
        float(times[-1]) if len(times) else clip.start,
        float(clip.scores[frames, columns].mean()) if len(frames) else 0.0,
        times,
        clip.boxes[frames, columns],
        clip.scores[frames, columns],
        np.ones(len(frames), dtype=bool),
        _noun(lexicon, sentence, participant),
        participant,
    )


def _detections_of(
    clip: Clip, observation: Observation, path: BestPath | None, participant: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the frames and columns of a participant's boxes in the clip's own arrays."""
    if path is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    view = observation.view
    indices = view.indices[np.arange(len(view.frames)), path.objects[:, participant]]
    known = indices >= 0
    ids = clip.detections.ids
    if view.tracked and ids is not None and known.any():
        # A track has one identity, so its boxes between the sampled frames are included.
        first = int(np.flatnonzero(known)[0])
        identity = ids[view.frames[first], indices[first]]
        rows, columns = np.nonzero(clip.mask & (ids == identity))
        return rows, columns
    return view.frames[known], indices[known]


def _noun(lexicon: LearnedLexicon, sentence: Sentence, participant: int) -> str:
    for word in sentence.words:
        if word.participants == (participant,) and lexicon[word.entry].part is PartOfSpeech.NOUN:
            return word.entry
    return "something"


def _typical_evidence(lexicon: LearnedLexicon, entry: str) -> Array:
    """Return ``(I,)`` the mean log ratio of each state where the word is true."""
    word = lexicon[entry]
    total = np.zeros(word.num_states)
    for slot, table in zip(word.slots, word.emissions, strict=True):
        background = lexicon.background[slot.feature]
        total += (table * (np.log(table + 1e-12) - np.log(background + 1e-12))).sum(axis=1)
    return total


def _longest_failure(times: Array, word: WordTime) -> tuple[float, float] | None:
    failing = runs(word.evidence < _FAILING * word.typical)
    if not failing:
        return None
    first, end = max(failing, key=lambda run: run[1] - run[0])
    return float(times[first]), float(times[end - 1])
