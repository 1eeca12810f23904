"""Finding the moments of long films that a sentence describes, by windows that share their work."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import collect_losses
from wordsight.meaning.checks import require_clip
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features import Observation, observe
from wordsight.meaning.features.observation import cut_window
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.clip import evidence_of
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence

__all__ = ["Windows", "search"]


# `Windows`: how long films are cut into moments, and which moments are different ones.


class _Timed(Protocol):
    @property
    def start(self) -> float: ...

    @property
    def end(self) -> float: ...


_TimedT = TypeVar("_TimedT", bound=_Timed)


@dataclass(frozen=True)
class Windows:
    """How long films are looked through.

    Attributes:
        lengths: Lengths of windows in seconds; clips not longer than the longest are taken whole.
        step: From window to window, as a share of the length.
        overlap: Hits in one film that share more than this of their time with a better one are
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

    def spans(self, clip: Clip) -> list[tuple[float, float]]:
        """Return from when to when, in seconds, each window of a clip lasts."""
        if clip.end - clip.start <= max(self.lengths):
            return [(clip.start, clip.end)]
        return [
            (float(start), min(float(start) + length, clip.end))
            for length in self.lengths
            for start in np.arange(
                clip.start, clip.end - length * (1 - self.step), self.step * length
            )
        ]

    def apart(self, ranked: Iterable[_TimedT]) -> list[_TimedT]:
        """Leave out moments that share too much of their time with a better one.

        Args:
            ranked: Moments of one film, best first.
        """
        kept: list[_TimedT] = []
        for one in ranked:
            if all(_shared(one, other) <= self.overlap for other in kept):
                kept.append(one)
        return kept


def _shared(one: _Timed, other: _Timed) -> float:
    common = min(one.end, other.end) - max(one.start, other.start)
    shorter = min(one.end - one.start, other.end - other.start)
    return max(0.0, common) / max(shorter, 1e-9)


_PIECE = 8.0
"""Long films are measured in pieces of so many of the longest windows: nobody is in sight for a
whole film, and everybody together would not fit the memory."""


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
    sentence: str | Sentence,
    *,
    top: int | None = 10,
    only_true: bool = False,
    windows: Windows | None = None,
    progress: Progress | None = None,
) -> list[SentenceHit]:
    """Rank the moments of clips by how well a sentence describes them.

    Args:
        lexicon: The words.
        clips: Clips or whole films.
        sentence: What to look for.
        top: How many moments to return; all if None.
        only_true: Whether to leave out moments whose score does not reach the threshold, so that
            the answer may be empty.
        windows: How long films are cut.
        progress: Told after every clip.

    Returns:
        Hits, best first.
    """
    said, how = lexicon.sentence(sentence), windows or Windows()
    hits: list[SentenceHit] = []
    for clip in report(clips, progress, "searching"):
        if not require_clip(clip).mask.any():
            continue
        found = how.apart(sorted(_scored(lexicon, clip, said, how), key=lambda f: -f.score))
        kept = [f for f in found if not only_true or f.score >= lexicon.threshold]
        hits += _hits(lexicon, clip, said, how, kept[:top])
        # Hits of all clips are never kept longer than needed.
        hits.sort(key=lambda hit: -hit.score)
        hits = hits[:top] if top is not None else hits
    return hits


def _scored(
    lexicon: LearnedLexicon, clip: Clip, sentence: Sentence, how: Windows
) -> Iterator[_ScoredWindow]:
    for piece, spans in _pieces(clip, how):
        seen = _observed(lexicon, clip, piece, how)
        for start, end in spans:
            rows = _frames(clip, seen, start, end)
            window = _window(lexicon, seen, rows)
            if window.view.present.any():
                with collect_losses() as losses:
                    value = float(lexicon.scores(window, [sentence])[0])
                lost = max(losses, default=0.0)
                yield _ScoredWindow(value, piece, rows, start, end, lost)


def _pieces(
    clip: Clip, how: Windows
) -> Iterator[tuple[tuple[float, float], list[tuple[float, float]]]]:
    """Yield pieces of a clip, from when to when, with the windows that lie in each."""
    spans = how.spans(clip)
    if spans == [(clip.start, clip.end)]:
        yield spans[0], spans
        return
    longest = max(how.lengths)
    for begin in np.arange(clip.start, clip.end, _PIECE * longest):
        mine = [span for span in spans if begin <= span[0] < begin + _PIECE * longest]
        if mine:
            yield (float(begin), max(end for _, end in mine)), mine


def _observed(
    lexicon: LearnedLexicon, clip: Clip, piece: tuple[float, float], how: Windows
) -> Observation:
    start, end = piece
    if clip.end - clip.start <= max(how.lengths):
        return lexicon.observe(clip)
    # Whoever is in sight for long enough in any window is looked at.
    look = lexicon.looking
    shortest = 0.5 * how.step * min(how.lengths)
    all_there = replace(look, most=None, least_seen=look.least_seen * shortest / (end - start))
    return observe(all_there.view(clip.part(start, end)), lexicon.vocabulary)


def _frames(clip: Clip, seen: Observation, start: float, end: float) -> tuple[int, int]:
    times: NDArray[np.float64] = seen.view.times
    if (start, end) == (clip.start, clip.end):
        return 0, len(times)
    first, last = np.searchsorted(times, [start, end])
    return int(first), int(last)


def _window(lexicon: LearnedLexicon, seen: Observation, rows: tuple[int, int]) -> Observation:
    look = lexicon.looking
    return cut_window(seen, *rows, least_seen=look.least_seen, most=look.most)


def _hits(
    lexicon: LearnedLexicon,
    clip: Clip,
    sentence: Sentence,
    how: Windows,
    found: list[_ScoredWindow],
) -> Iterator[SentenceHit]:
    for piece, windows in groupby(sorted(found, key=lambda f: f.piece), key=lambda f: f.piece):
        seen = _observed(lexicon, clip, piece, how)
        for one in windows:
            yield _hit(lexicon, clip, seen, sentence, one)


def _hit(
    lexicon: LearnedLexicon, clip: Clip, seen: Observation, sentence: Sentence, found: _ScoredWindow
) -> SentenceHit:
    window = _window(lexicon, seen, found.rows)
    with collect_losses():  # told already, when the window was scored
        words = evidence_of(lexicon, window, sentence)
    return SentenceHit(
        clip.video_id,
        found.start,
        found.end,
        found.score,
        sentence.text,
        found.score >= lexicon.threshold,
        tuple((word.word, float(word.evidence.mean())) for word in words),
        found.lost_mass,
    )
