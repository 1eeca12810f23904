"""When an event happens: its start and end within a window of a video and the time around it.

Every stretch of frames is weighed by how well it fits the verb, and the medians of its first and
last frame over all stretches are the start and the end. Words that were learned from whole videos
have states for the time before, within and after an event: each frame of a stretch counts by how
much better the states within explain it than anything else known does. Words that were learned from
clips cut to their events have states for the event alone: a stretch counts by the likelihood of the
whole chain of states, from the first to the last, and by how long such events last.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech
from wordsight.meaning.features import Observation
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.model.word import WordModel
from wordsight.records import Sentence

__all__ = ["CUT_CLIPS", "TYPICAL_CLIP", "EventTime", "find_event"]

CUT_CLIPS = "cut_clips"
"""Under which name the notes of a lexicon say that its clips were cut to their events."""

TYPICAL_CLIP = "usual_clip"
"""The note of a lexicon that holds the median duration of its training clips in seconds."""

Array = NDArray[np.float64]

_WITH_TIME_AROUND = 4  # states from which the first and the last are the time around an event
_EDGE = 0.4  # seconds at its edges that an event looks like the time around it
_FIFTHS = 2 * 0.8416  # standard deviations between the first and the last fifth
_LEAST_SPREAD = 0.25  # of the logarithm of durations


@dataclass(frozen=True)
class EventTime:
    """When an event happens, and whether that is likelier than that nothing of it does."""

    start: float
    end: float
    happens: bool


def find_event(
    lexicon: LearnedLexicon,
    cut: Callable[[tuple[int, int]], Observation],
    rows: tuple[int, int],
    sentence: Sentence,
    times: Array,
) -> EventTime | None:
    """Return when the event of a window begins and ends; None if its words do not say.

    Args:
        lexicon: The words.
        cut: Returns the observation of a stretch of rows.
        rows: First row of the window, and the row after its last.
        sentence: What happens.
        times: Seconds of all rows.
    """
    cut_clips = bool(lexicon.notes.get(CUT_CLIPS))
    verbs = {
        entry: word
        for entry, word in lexicon.words.items()
        if word.part is PartOfSpeech.VERB and (cut_clips or word.num_phases >= _WITH_TIME_AROUND)
    }
    said = [word for word in sentence.words if word.entry in verbs]
    if not said:
        return None
    around = (rows[1] - rows[0]) // 2
    first, last = max(0, rows[0] - around), min(len(times), rows[1] + around)
    window, times = cut((first, last)), times[first:last]
    path = lexicon.scorer(window).best_path(sentence)
    weights = np.where(np.tri(len(times), k=-1) > 0, -np.inf, 0.0)  # none ends before it begins
    for word in said:
        things = tuple(path.objects[:, p] for p in word.participants)
        if cut_clips:
            scale = lexicon.calibration.scales.get(word.entry, lexicon.calibration.other_scale)
            logs = _logs(lexicon, window, word.entry, things)
            weights += scale * _chain_weights(verbs[word.entry], logs)
        else:
            gain = _gain(lexicon, window, word.entry, things, verbs)
            sums = np.concatenate([[0.0], np.cumsum(gain)])
            weights += sums[1:] - sums[:-1, None]
    unnamed = _unnamed(lexicon, sentence, {p for word in said for p in word.participants})
    unseen = path.objects[:, unnamed] == window.num_objects - 1
    if not cut_clips:
        begins, ends, evidence = _medians(weights)
        happens = evidence > 0.0 and _are_seen(unseen[begins : ends + 1])
        return EventTime(float(times[begins]) - _EDGE, float(times[ends]) + _EDGE, happens)
    step = float(times[-1] - times[0]) / max(1, len(times) - 1)
    lasting = np.maximum(times - times[:, None] + step, 1e-9)
    weights += _duration_weights(lexicon, [word.entry for word in said], lasting)
    if not np.isfinite(weights).any():  # fewer frames than states
        return None
    begins, ends, _ = _medians(weights)
    seen = _are_seen(unseen[begins : ends + 1])
    return EventTime(float(times[begins]), float(times[ends]) + step, seen)


def _unnamed(lexicon: LearnedLexicon, sentence: Sentence, participants: set[int]) -> list[int]:
    """Return the participants that no noun names: someone, who."""
    nouns = {e.name for e in lexicon.lexicon.of_part(PartOfSpeech.NOUN)}
    named = {word.participants[0] for word in sentence.words if word.entry in nouns}
    return sorted(participants - named)


def _are_seen(unseen: NDArray[np.bool_]) -> bool:
    """Whether participants are there: what no noun asks for would fit where nothing is seen."""
    return not unseen.size or bool((unseen.mean(axis=0) < 0.5).all())


def _logs(
    lexicon: LearnedLexicon,
    window: Observation,
    verb: str,
    things: tuple[NDArray[np.int64], ...],
) -> Array:
    """Return ``(T, I)`` log ratios of the states of a verb, given who takes part in it."""
    logs: Array = lexicon.tables[verb].logs(window)[(np.arange(window.num_frames), *things)]
    return logs


def _gain(
    lexicon: LearnedLexicon,
    window: Observation,
    verb: str,
    things: tuple[NDArray[np.int64], ...],
    verbs: Mapping[str, WordModel],
) -> Array:
    """Return per frame how much better an event of a verb explains it than anything else known.

    The first state of an event is mostly how it is prepared: walking up to what is picked up. So
    its later states are compared with the time before and after the events of all verbs, and with
    the later states of the other verbs.
    """
    inside: list[Array] = []
    outside: list[Array] = []
    for entry, word in verbs.items():
        if word.arity != len(things):
            continue
        logs = _logs(lexicon, window, entry, things).reshape(-1, word.senses, word.num_phases)
        outside += [*logs[..., 0].T, *logs[..., -1].T]
        event = logs[..., word.num_phases // 2 : -1]
        event = event.reshape(len(logs), word.senses * event.shape[2])
        (inside if entry == verb else outside).extend(event.T)
    mean = np.logaddexp.reduce(inside, axis=0) - np.log(len(inside))
    return np.asarray(mean - np.logaddexp.reduce(outside, axis=0))


def _chain_weights(word: WordModel, logs: Array) -> Array:
    """Return ``(T, T)`` how well each stretch fits a whole event, by its first and last frame.

    The forward pass of all first frames at once: a chain begins in each frame and may end in any
    later one.
    """
    frames = len(logs)
    with np.errstate(divide="ignore"):
        initial, transition, final = (
            np.log(weights) for weights in (word.initial, word.transition, word.final)
        )
    forward = np.full(logs.shape, -np.inf)
    found = np.full((frames, frames), -np.inf)
    for frame in range(frames):
        forward = np.logaddexp.reduce(forward[:, :, None] + transition, axis=1) + logs[frame]
        forward[frame] = initial + logs[frame]
        found[:, frame] = np.logaddexp.reduce(forward + final, axis=1)
    return found


def _duration_weights(lexicon: LearnedLexicon, verbs: Sequence[str], seconds: Array) -> Array:
    """Return the log weight of durations: those of all training clips, and of each verb's."""
    durations = lexicon.calibration.durations
    edges = np.maximum(durations.edges, 1e-3)
    if not len(edges):
        return np.zeros_like(seconds)
    spread = max(_LEAST_SPREAD, float(np.log(edges[-1] / edges[0])) / _FIFTHS)
    weights = -0.5 * ((np.log(seconds) - np.median(np.log(edges))) / spread) ** 2
    places = np.digitize(seconds, edges)
    for verb in verbs:
        if verb in durations.ratios:
            weights += durations.weight * durations.ratios[verb][places]
    return np.asarray(weights)


def _medians(weights: Array) -> tuple[int, int, float]:
    """Return the medians of the first and the last frame over all stretches.

    Args:
        weights: ``(T, T)`` log weight of each stretch, by its first and last frame.

    Returns:
        Both frames, and the log ratio of the mean weight of stretches to that of nothing, 1.
    """
    total = float(np.logaddexp.reduce(weights, axis=None))
    shares = np.exp(weights - total)
    begins = int(np.searchsorted(np.cumsum(shares.sum(axis=1)), 0.5))
    ends = int(np.searchsorted(np.cumsum(shares.sum(axis=0)), 0.5))
    most = len(weights) - 1
    return min(begins, most), min(ends, most), total - float(np.log(shares.size * 0.5))
