"""Finding the moments of long films that a sentence describes, by windows that share their work."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import collect_losses
from wordsight.meaning.checks import a_clip
from wordsight.meaning.features import Observation, observe
from wordsight.meaning.features.windows import cut_window
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.results import Hit
from wordsight.meaning.tasks import evidence_of
from wordsight.meaning.windows import Windows
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence

__all__ = ["search"]

_PIECE = 8.0
"""Long films are measured in pieces of so many of the longest windows: nobody is in sight for a
whole film, and everybody together would not fit the memory."""


@dataclass(frozen=True)
class _Found:
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
) -> list[Hit]:
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
    hits: list[Hit] = []
    for clip in report(clips, progress, "searching"):
        if not a_clip(clip).mask.any():
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
) -> Iterator[_Found]:
    for piece, spans in _pieces(clip, how):
        seen = _observed(lexicon, clip, piece, how)
        for start, end in spans:
            rows = _frames(clip, seen, start, end)
            window = _window(lexicon, seen, rows)
            if window.view.present.any():
                with collect_losses() as losses:
                    value = float(lexicon.scores(window, [sentence])[0])
                lost = max(losses, default=0.0)
                yield _Found(value, piece, rows, start, end, lost)


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
    lexicon: LearnedLexicon, clip: Clip, sentence: Sentence, how: Windows, found: list[_Found]
) -> Iterator[Hit]:
    for piece, windows in groupby(sorted(found, key=lambda f: f.piece), key=lambda f: f.piece):
        seen = _observed(lexicon, clip, piece, how)
        for one in windows:
            yield _hit(lexicon, clip, seen, sentence, one)


def _hit(
    lexicon: LearnedLexicon, clip: Clip, seen: Observation, sentence: Sentence, found: _Found
) -> Hit:
    window = _window(lexicon, seen, found.rows)
    with collect_losses():  # told already, when the window was scored
        words = evidence_of(lexicon, window, sentence)
    return Hit(
        clip.video_id,
        found.start,
        found.end,
        found.score,
        sentence.text,
        found.score >= lexicon.threshold,
        tuple((word.word, float(word.evidence.mean())) for word in words),
        found.lost_mass,
    )
