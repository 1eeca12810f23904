"""Finding the moments of long films that a sentence describes, by windows that share their work."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.inference import noting_losses
from wordsight.meaning.checks import a_clip
from wordsight.meaning.errors import MeaningError
from wordsight.meaning.features import Observation
from wordsight.meaning.features.windows import cut_window
from wordsight.meaning.lexicon import LearnedLexicon
from wordsight.meaning.results import Hit
from wordsight.meaning.tasks import evidence_of
from wordsight.progress import Progress, report
from wordsight.records import Clip, Sentence

__all__ = ["Windows", "search"]


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


@dataclass(frozen=True)
class _Found:
    """A window with its score and its frames in the observation of its clip."""

    score: float
    first: int
    end: int
    start_time: float
    end_time: float
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
        seen = lexicon.observe(clip)
        found = _without_overlap(list(_scored(lexicon, clip, seen, said, how)), how.overlap)
        kept = [f for f in found if not only_true or f.score >= lexicon.threshold]
        hits += [_hit(lexicon, clip, seen, said, one) for one in kept]
        # Hits of all clips are never kept longer than needed.
        hits.sort(key=lambda hit: -hit.score)
        hits = hits[:top] if top is not None else hits
    return hits


def _scored(
    lexicon: LearnedLexicon, clip: Clip, seen: Observation, sentence: Sentence, how: Windows
) -> Iterator[_Found]:
    for first, end, start_time, end_time in _spans(clip, seen, how):
        window = _window(lexicon, seen, first, end)
        if window.view.present.any():
            with noting_losses() as losses:
                value = float(lexicon.scores(window, [sentence])[0])
            yield _Found(value, first, end, start_time, end_time, max(losses, default=0.0))


def _window(lexicon: LearnedLexicon, seen: Observation, first: int, end: int) -> Observation:
    look = lexicon.looking
    return cut_window(seen, first, end, least_seen=look.least_seen, most=look.most)


def _spans(clip: Clip, seen: Observation, how: Windows) -> Iterator[tuple[int, int, float, float]]:
    times: NDArray[np.float64] = seen.view.times
    if clip.end - clip.start <= max(how.lengths):
        yield 0, len(times), clip.start, clip.end
        return
    for length in how.lengths:
        starts = np.arange(clip.start, clip.end - length * (1 - how.step), how.step * length)
        for start in starts:
            end = min(float(start) + length, clip.end)
            first, last = np.searchsorted(times, [start, end])
            if last > first:
                yield int(first), int(last), float(start), end


def _without_overlap(found: Sequence[_Found], most: float) -> list[_Found]:
    kept: list[_Found] = []
    for one in sorted(found, key=lambda f: -f.score):
        if all(_shared(one, other) <= most for other in kept):
            kept.append(one)
    return kept


def _shared(one: _Found, other: _Found) -> float:
    common = min(one.end_time, other.end_time) - max(one.start_time, other.start_time)
    shorter = min(one.end_time - one.start_time, other.end_time - other.start_time)
    return max(0.0, common) / max(shorter, 1e-9)


def _hit(
    lexicon: LearnedLexicon, clip: Clip, seen: Observation, sentence: Sentence, found: _Found
) -> Hit:
    window = _window(lexicon, seen, found.first, found.end)
    with noting_losses():  # told already, when the window was scored
        words = evidence_of(lexicon, window, sentence)
    return Hit(
        clip.video_id,
        found.start_time,
        found.end_time,
        found.score,
        sentence.text,
        found.score >= lexicon.threshold,
        tuple((word.word, float(word.evidence.mean())) for word in words),
        found.lost_mass,
    )
