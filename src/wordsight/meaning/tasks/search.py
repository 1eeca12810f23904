"""Finding moments of long videos that a sentence describes, by sliding windows.

A sentence is about a moment, and tracks that are visible in a small share of a clip are left out.
So long videos are cut into windows, which share the measured features; the hit is the event that is
found in a window and its surroundings (:mod:`wordsight.meaning.tasks.event`).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.errors import MeaningError
from wordsight.inference import collect_losses
from wordsight.language import PartOfSpeech
from wordsight.meaning.checks import SentenceLike, require_clip
from wordsight.meaning.features import Observation, observe
from wordsight.meaning.features.observation import cut_window
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.clip import evidence_of
from wordsight.meaning.tasks.event import CUT_CLIPS, TYPICAL_CLIP, find_event
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence

__all__ = [
    "Windows",
    "best_moment",
    "is_long_video",
    "judge_spans",
    "search",
]

_SHORTEST = 0.5  # seconds of a window

_PIECE = 8.0
"""Long videos are measured in pieces of this many of the longest windows: no object is visible in
a whole video, and all objects together would not fit the memory."""


class _Timed(Protocol):
    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...


_TimedT = TypeVar("_TimedT", bound=_Timed)


@dataclass(frozen=True)
class Windows:
    """Sliding windows over long videos.

    Attributes:
        lengths: Lengths of windows in seconds; clips not longer than the longest are taken whole.
        step: Step from window to window, as a share of the length.
        overlap: Hits in one video that share more than this of their time with a better one are
            dropped.
    """

    lengths: tuple[float, ...] = (2.0, 4.0)
    step: float = 0.5
    overlap: float = 0.3

    def __post_init__(self) -> None:
        if not self.lengths or min(self.lengths) <= 0 or not 0 < self.step <= 1:
            raise MeaningError(
                "windows need lengths above 0 seconds and a step above 0 and up to 1, got "
                f"{self.lengths} and {self.step}."
            )

    @classmethod
    def of(cls, lexicon: LearnedLexicon) -> "Windows":
        """Return windows as long as the clips that words were learned from, if cut to events."""
        edges = lexicon.calibration.durations.edges  # those of fifths of the clips
        if not lexicon.notes.get(CUT_CLIPS) or not len(edges):
            return cls()
        lengths = {round(max(_SHORTEST, float(edge)), 1) for edge in (edges[0], edges[-1])}
        return cls(lengths=tuple(sorted(lengths)))

    def spans(self, clip: Clip) -> list[tuple[float, float]]:
        """Return the start and end, in seconds, of each window of a clip."""
        if clip.end - clip.start <= max(self.lengths):
            return [(clip.start, clip.end)]
        return [
            (float(start), min(float(start) + length, clip.end))
            for length in self.lengths
            for start in np.arange(
                clip.start, clip.end - length * (1 - self.step), self.step * length
            )
        ]

    def without_overlaps(self, ranked: Iterable[_TimedT]) -> list[_TimedT]:
        """Leave out moments that share too much of their time with a better one.

        Args:
            ranked: Moments of one video, best first.
        """
        kept: list[_TimedT] = []
        for one in ranked:
            if all(_overlap(one, other) <= self.overlap for other in kept):
                kept.append(one)
        return kept


def _overlap(one: _Timed, other: _Timed) -> float:
    common = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return max(0.0, common) / max(shorter, 1e-9)


@dataclass(frozen=True)
class _ScoredWindow:
    """A window with its score, and its frames in the observation of a piece of its clip."""

    score: float
    piece: tuple[float, float]
    rows: tuple[int, int]
    start: float
    end: float
    lost_mass: float = 0.0


def search(
    lexicon: LearnedLexicon,
    clips: Iterable[Clip],
    sentence: SentenceLike,
    *,
    top: int | None = 10,
    only_true: bool = False,
    windows: Windows | None = None,
    progress: Progress | None = None,
) -> list[SentenceHit]:
    """Rank the moments of clips by how well a sentence describes them.

    Args:
        lexicon: The words.
        clips: Clips or whole videos.
        sentence: The query.
        top: Number of moments to return; all if None.
        only_true: Whether to leave out moments whose score does not reach the threshold, so that
            the result may be empty. Of a sentence without a verb, which says how things are,
            moments that touch are then one.
        windows: How long videos are cut; by default as :meth:`Windows.of` has it.
        progress: Called after every clip.

    Returns:
        Hits, best first.
    """
    query, windows = lexicon.sentence(sentence), windows or Windows.of(lexicon)
    hits: list[SentenceHit] = []
    for clip in report(clips, progress, "searching"):
        if not require_clip(clip).mask.any():
            continue
        lasting = only_true and _lasts(lexicon, query)
        found = _scored(lexicon, clip, query, windows, must_be_seen=lasting)
        scored = sorted(found, key=lambda w: -w.score)
        if only_true:
            scored = [window for window in scored if window.score >= lexicon.threshold]
        kept = _stretches(scored) if lasting else windows.without_overlaps(scored)
        hits += windows.without_overlaps(
            sorted(
                (
                    hit
                    for hit in _hits(lexicon, clip, query, windows, kept[:top])
                    if hit.holds or not only_true
                ),
                key=lambda hit: -hit.score,
            )
        )
        # Keep no more hits in memory than needed.
        hits.sort(key=lambda hit: -hit.score)
        hits = hits[:top] if top is not None else hits
    return hits


def _lasts(lexicon: LearnedLexicon, sentence: Sentence) -> bool:
    """Whether a sentence says how things are, and no event that begins and ends."""
    verbs = {entry.name for entry in lexicon.lexicon.of_part(PartOfSpeech.VERB)}
    return not any(word.entry in verbs for word in sentence.words)


def _is_seen(lexicon: LearnedLexicon, window: Observation, sentence: Sentence) -> bool:
    """Whether something in sight speaks for every noun of a sentence.

    What is not seen speaks neither for nor against a word. That is right for an event, whose other
    words tell whether it happens, but "a bottle" would then hold wherever there is none.
    """
    nouns = {entry.name for entry in lexicon.lexicon.of_part(PartOfSpeech.NOUN)}
    evidence = evidence_of(lexicon, window, sentence)
    return all(
        time.evidence.mean() > 0.0
        for word, time in zip(sentence.words, evidence, strict=True)
        if word.entry in nouns
    )


def _stretches(scored: Iterable[_ScoredWindow]) -> list[_ScoredWindow]:
    """Return windows that touch as one stretch each, judged by its best window, best first."""
    stretches: list[_ScoredWindow] = []
    for window in sorted(scored, key=lambda w: w.start):
        last = stretches[-1] if stretches else None
        if last is None or window.start > last.end:
            stretches.append(window)
            continue
        best = max(last, window, key=lambda w: w.score)
        stretches[-1] = replace(best, start=last.start, end=max(last.end, window.end))
    return sorted(stretches, key=lambda w: -w.score)


def _scored(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentence: Sentence,
    windows: Windows,
    must_be_seen: bool = False,
) -> Iterator[_ScoredWindow]:
    for piece, spans in _pieces(clip, windows):
        observation = _observed(lexicon, clip, piece, windows)
        for start, end in spans:
            rows = _frames(clip, observation, start, end)
            window = _window(lexicon, observation, rows)
            if window.view.present.any():
                with collect_losses() as losses:
                    value = float(lexicon.scores(window, [sentence])[0])
                    if must_be_seen and not _is_seen(lexicon, window, sentence):
                        continue
                yield _ScoredWindow(value, piece, rows, start, end, max(losses, default=0.0))


def judge_spans(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentences: Sequence[Sentence],
    spans: Iterable[tuple[float, float]],
    windows: Windows,
) -> Iterator[tuple[int, SentenceHit]]:
    """Judge sentences of stretches of one clip, with what is measured shared by all.

    Args:
        lexicon: The words.
        clip: A clip that is short enough to be measured at once.
        sentences: The sentences.
        spans: Start and end of each stretch, in seconds.
        windows: The windows that the stretches are from.

    Yields:
        The number of each sentence that holds of a stretch, and the hit.
    """
    observation = _observed(lexicon, clip, (clip.start, clip.end), windows)
    for start, end in spans:
        rows = _frames(clip, observation, start, end)
        window = _window(lexicon, observation, rows)
        if not window.view.present.any():
            continue
        with collect_losses() as losses:
            scores = lexicon.scores(window, sentences)
        for number in np.flatnonzero(scores >= lexicon.threshold).tolist():
            found = _ScoredWindow(
                float(scores[number]), (0, 0), rows, start, end, max(losses, default=0.0)
            )
            hit = _hit(lexicon, clip, observation, sentences[number], found)
            if hit.holds:
                yield number, hit


def _pieces(
    clip: Clip, windows: Windows
) -> Iterator[tuple[tuple[float, float], list[tuple[float, float]]]]:
    """Yield pieces of a clip, by start and end, with the windows that lie in each."""
    spans = windows.spans(clip)
    if spans == [(clip.start, clip.end)]:
        yield spans[0], spans
        return
    longest = max(windows.lengths)
    for begin in np.arange(clip.start, clip.end, _PIECE * longest):
        own = [span for span in spans if begin <= span[0] < begin + _PIECE * longest]
        if own:
            yield (float(begin), max(end for _, end in own)), own


def _observed(
    lexicon: LearnedLexicon, clip: Clip, piece: tuple[float, float], windows: Windows
) -> Observation:
    start, end = piece
    if clip.end - clip.start <= max(windows.lengths):
        return lexicon.observe(clip)
    # Every object that is visible long enough in any window is kept.
    settings = lexicon.view_settings
    shortest = 0.5 * windows.step * min(windows.lengths)
    min_visible = settings.min_visible * shortest / (end - start)
    all_objects = replace(settings, max_objects=None, min_visible=min_visible)
    part = lexicon.named(clip.part(start, end))
    return observe(all_objects.view(part), lexicon.vocabulary)


def _frames(clip: Clip, observation: Observation, start: float, end: float) -> tuple[int, int]:
    times: NDArray[np.float64] = observation.view.times
    if (start, end) == (clip.start, clip.end):
        return 0, len(times)
    first, last = np.searchsorted(times, [start, end])
    return int(first), int(last)


def _window(
    lexicon: LearnedLexicon, observation: Observation, rows: tuple[int, int]
) -> Observation:
    settings = lexicon.view_settings
    return cut_window(
        observation, *rows, min_visible=settings.min_visible, max_objects=settings.max_objects
    )


def _hits(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentence: Sentence,
    windows: Windows,
    scored: list[_ScoredWindow],
) -> Iterator[SentenceHit]:
    for piece, group in groupby(sorted(scored, key=lambda w: w.piece), key=lambda w: w.piece):
        observation = _observed(lexicon, clip, piece, windows)
        for found in group:
            yield _hit(lexicon, clip, observation, sentence, found)


def _hit(
    lexicon: LearnedLexicon,
    clip: Clip,
    observation: Observation,
    sentence: Sentence,
    found: _ScoredWindow,
) -> SentenceHit:
    window = _window(lexicon, observation, found.rows)
    with collect_losses():  # counted already when the window was scored
        words = evidence_of(lexicon, window, sentence)
        cut, times = partial(_window, lexicon, observation), observation.view.times
        event = find_event(lexicon, cut, found.rows, sentence, times)
    span = (found.start, found.end)
    start, end = span if event is None else (event.start, event.end)
    # A part of a video that has no stretch of its own that fits belongs to another event.
    happens = event is None or event.happens or span == (clip.start, clip.end)
    return SentenceHit(
        clip.video_id,
        max(start, clip.start),
        min(end, clip.end),
        found.score,
        sentence.text,
        happens and found.score >= lexicon.threshold,
        tuple((word.word, float(word.evidence.mean())) for word in words),
        found.lost_mass,
        span,
    )


def is_long_video(lexicon: LearnedLexicon, clip: Clip, windows: Windows | None = None) -> bool:
    """Whether a clip is so long that moments have to be found first.

    It is where a track that is visible during the longest window, or as long as a typical training
    clip, would be left out as visible in too small a share of the whole.
    """
    # Older lexicons and those written by hand do not have the note.
    known = lexicon.notes.get(TYPICAL_CLIP)
    typical = float(known) if isinstance(known, int | float) else 0.0
    moment = max(*(windows or Windows.of(lexicon)).lengths, typical)
    return lexicon.view_settings.min_visible * (clip.end - clip.start) > moment


def best_moment(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentence: SentenceLike,
    *,
    windows: Windows | None = None,
) -> Clip:
    """Return the moment of a long video that a sentence describes best.

    Args:
        lexicon: The words.
        clip: Any clip.
        sentence: The query.
        windows: How long videos are cut; as by :func:`search`.

    Returns:
        The part of the clip; the clip itself if it is not long, or nothing is detected in it.
    """
    query = lexicon.sentence(sentence)
    if not is_long_video(lexicon, require_clip(clip), windows):
        return clip
    hits = search(lexicon, [clip], query, top=1, windows=windows)
    return clip.part(*hits[0].judged) if hits else clip
