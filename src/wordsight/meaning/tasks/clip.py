"""One score, many tasks: is it true, who is who, why, and which sentence is preferred.

Each function takes a learned lexicon and a clip; :class:`LearnedLexicon` offers them as methods.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import collect_losses
from wordsight.language import PartOfSpeech
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

__all__ = ["choose", "explain", "score", "score_all", "track"]

Array = NDArray[np.float64]

SentenceLike = str | Sentence

_FAILING = 0.25
"""A word fails in frames with less than this share of the evidence typical of it."""


def score(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceScore:
    """Say how well a sentence fits a clip, and whether it is true of it."""
    return score_all(lexicon, clip, [sentence])[0]


def score_all(
    lexicon: LearnedLexicon, clip: Clip, sentences: Sequence[SentenceLike]
) -> list[SentenceScore]:
    """Score several sentences about one clip; they share their work."""
    said = lexicon.sentences(sentences)
    seen = lexicon.observe(clip)
    reading = lexicon.read(seen)
    with collect_losses() as losses:
        ratios = lexicon.log_ratios(seen, said, reading)
        scores = lexicon.scores(seen, said, reading)
    preferences = lexicon.compared(ratios, said, seen.duration)
    return [
        SentenceScore(
            clip.video_id,
            clip.start,
            clip.end,
            float(scores[k]),
            sentence.text,
            _holds(lexicon, seen, float(scores[k])),
            float(ratios[k]),
            float(preferences[k]),
            max(losses, default=0.0),
        )
        for k, sentence in enumerate(said)
    ]


def choose(lexicon: LearnedLexicon, clip: Clip, candidates: Sequence[SentenceLike]) -> int:
    """Return which of several sentences describes a clip best."""
    if not candidates:
        raise MeaningError("there is nothing to choose from: no sentences were given.")
    seen = lexicon.observe(clip)
    return int(np.argmax(lexicon.preferences(seen, lexicon.sentences(candidates))))


def track(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> TrackedSentence:
    """Find who is who: the best choice of one track per participant, and of every word's states.

    A clip in which nothing was seen gives tracks without boxes.
    """
    said = lexicon.sentence(sentence)
    seen = lexicon.observe(clip)
    with collect_losses() as losses:
        path, words = _explained(lexicon, seen, said)
    found = score(lexicon, clip, said)
    lost = max(*losses, found.lost_mass, 0.0)
    tracks = tuple(_track(lexicon, clip, seen, said, path, p) for p in range(said.num_participants))
    return TrackedSentence(
        clip.video_id, clip.start, clip.end, found.score, said, seen.view.times, tracks, words, lost
    )


def explain(lexicon: LearnedLexicon, clip: Clip, sentence: SentenceLike) -> SentenceExplanation:
    """Say which word fits when, and which one fits least."""
    said = lexicon.sentence(sentence)
    seen = lexicon.observe(clip)
    with collect_losses() as losses:
        _, words = _explained(lexicon, seen, said)
    found = score(lexicon, clip, said)
    weakest = min(words, key=lambda word: word.fit)
    return SentenceExplanation(
        clip.video_id,
        clip.start,
        clip.end,
        found.score,
        said.text,
        seen.view.times,
        words,
        weakest.word,
        _longest_failure(seen.view.times, weakest),
        max(*losses, found.lost_mass, 0.0),
    )


def evidence_of(
    lexicon: LearnedLexicon, seen: Observation, sentence: Sentence
) -> tuple[WordTime, ...]:
    """Return the evidence of every word under the best explanation of a clip."""
    return _explained(lexicon, seen, sentence)[1]


def _holds(lexicon: LearnedLexicon, seen: Observation, value: float) -> bool:
    # Where nothing is seen nothing is said, whatever the threshold.
    return bool(value >= lexicon.threshold) and bool(seen.view.present.any())


def _explained(
    lexicon: LearnedLexicon, seen: Observation, sentence: Sentence
) -> tuple[BestPath | None, tuple[WordTime, ...]]:
    if not seen.num_frames:
        nothing = np.zeros(0)
        states = nothing.astype(np.int64)
        return None, tuple(WordTime(str(w), states, nothing, nothing) for w in sentence.words)
    path = lexicon.read(seen).best_path(sentence)
    words: list[WordTime] = []
    for number, word in enumerate(sentence.words):
        states = path.states[:, number]
        logs = lexicon.tables[word.entry].logs(seen)
        things = tuple(path.things[:, p] for p in word.participants)
        evidence = logs[(np.arange(len(states)), *things, states)]
        typical = _typical_evidence(lexicon, word.entry)[states]
        words.append(WordTime(str(word), states, evidence, typical))
    return path, tuple(words)


def _track(
    lexicon: LearnedLexicon,
    clip: Clip,
    seen: Observation,
    sentence: Sentence,
    path: BestPath | None,
    participant: int,
) -> Track:
    frames, columns = _where(clip, seen, path, participant)
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
        _name(lexicon, sentence, participant),
        participant,
    )


def _where(
    clip: Clip, seen: Observation, path: BestPath | None, participant: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the frames and places of a participant's boxes in the clip's own arrays."""
    if path is None:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    view = seen.view
    places = view.places[np.arange(len(view.frames)), path.things[:, participant]]
    known = places >= 0
    ids = clip.detections.ids
    if view.tracked and ids is not None and known.any():
        # A track is one identity throughout, so its boxes between the frames looked at count too.
        first = int(np.flatnonzero(known)[0])
        identity = ids[view.frames[first], places[first]]
        rows, columns = np.nonzero(clip.mask & (ids == identity))
        return rows, columns
    return view.frames[known], places[known]


def _name(lexicon: LearnedLexicon, sentence: Sentence, participant: int) -> str:
    for word in sentence.words:
        if word.participants == (participant,) and lexicon[word.entry].part is PartOfSpeech.NOUN:
            return word.entry
    return "something"


def _typical_evidence(lexicon: LearnedLexicon, entry: str) -> Array:
    """Return ``(I,)`` the mean log ratio of each state where the word is true."""
    word = lexicon[entry]
    total = np.zeros(word.num_states)
    for slot, table in zip(word.slots, word.emissions, strict=True):
        usual = lexicon.background[slot.feature]
        total += (table * (np.log(table + 1e-12) - np.log(usual + 1e-12))).sum(axis=1)
    return total


def _longest_failure(times: Array, word: WordTime) -> tuple[float, float] | None:
    failing = runs(word.evidence < _FAILING * word.typical)
    if not failing:
        return None
    first, end = max(failing, key=lambda run: run[1] - run[0])
    return float(times[first]), float(times[end - 1])
