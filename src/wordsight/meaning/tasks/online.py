"""`SentenceWatch`: judging sentences while a video goes on, a bounded time after each moment.

A window is judged as soon as it is over, from what was seen until then; so are the windows of
:func:`.search.search`, with which it shares its grid, its features and its threshold. What differs
is what has not been seen yet: tracks end at the present, and of moments that overlap the first good
one is reported instead of the best, unless a better one comes within the time a hit is held back.
"""

from collections.abc import Iterator, Sequence

from wordsight.meaning.checks import SentenceLike, require_number
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.answer import probability
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.meaning.tasks.search import Windows, judge_spans
from wordsight.records import Clip, Moment

__all__ = ["SentenceWatch"]

_CONTEXT = 1.0
"""Seconds before the longest window that are measured with it: features look at neighbours."""

_SLACK = 1e-6


class SentenceWatch:
    """Judges sentences on the windows of a stream, each once, when it is over.

    Args:
        lexicon: The words.
        sentences: What is watched for; all share the work.
        windows: Lengths and steps of the windows; those of a search by default.
        hold: Seconds a hit is held back for a better one that overlaps it.
        lookahead: Seconds to wait after the end of a window before it is judged, so that features
            at its end know what follows.

    Examples:
        See ``docs/guides/live.md``.
    """

    def __init__(
        self,
        lexicon: LearnedLexicon,
        sentences: Sequence[SentenceLike],
        *,
        windows: Windows | None = None,
        hold: float = 0.25,
        lookahead: float = 0.5,
    ) -> None:
        require_number("hold", hold, least=0.0)
        require_number("lookahead", lookahead, least=0.0)
        self.lexicon = lexicon
        self.sentences = tuple(lexicon.sentences(sentences))
        self.windows = windows or Windows.of(lexicon)
        self.hold, self.lookahead = hold, lookahead
        self._begun: float | None = None
        self._judged = dict.fromkeys(self.windows.lengths, 0)
        self._held: dict[int, tuple[float, SentenceHit]] = {}
        self._reported: dict[int, list[SentenceHit]] = {}  # those that may still be met again

    @property
    def reach(self) -> float:
        """How many seconds of the past are looked at."""
        return max(self.windows.lengths) + _CONTEXT + self.lookahead

    def probability(self, score: float) -> float:
        """Return how likely a sentence with a score is true."""
        return probability(self.lexicon, score)

    def prepare(self, clip: Clip) -> None:
        """Judge a clip and report nothing, so that all that is needed for it is loaded."""
        for _ in judge_spans(
            self.lexicon, clip, self.sentences, [(clip.start, clip.end)], self.windows
        ):
            pass

    def begin(self, time: float) -> None:
        """Start over at a time: what was seen before has nothing to do with what follows."""
        self._begun = time
        self._judged = dict.fromkeys(self.windows.lengths, 0)

    def due(self, now: float) -> bool:
        """Return whether a window is over that was not judged yet."""
        return any(
            self._next(length)[1] <= now - self.lookahead + _SLACK for length in self._judged
        )

    def look(self, clip: Clip, *, ended: bool = False) -> list[SentenceHit]:
        """Judge the windows that are over at the end of a clip, and return what is to be reported.

        Args:
            clip: What was seen in the last :attr:`reach` seconds, or longer.
            ended: Whether nothing follows, so that windows which are cut off are judged as well.
        """
        if self._begun is None:
            self.begin(clip.start)
        recent = clip.part(max(clip.start, clip.end - self.reach), clip.end)
        spans = [
            (max(start, recent.start), min(end, clip.end))
            for start, end in self._over(clip.end, ended)
            if start < clip.end
        ]
        reported = []
        if spans and recent.mask.any():
            judged = judge_spans(self.lexicon, recent, self.sentences, spans, self.windows)
            for number, hit in judged:
                reported += self._take(number, hit, clip.end)
        return reported + self.release(clip.end, everything=ended)

    def release(self, now: float, *, everything: bool = False) -> list[SentenceHit]:
        """Return the hits that were held long enough, or all of them."""
        due = [n for n, (release, _) in self._held.items() if everything or release <= now]
        return [self._report(number) for number in due]

    def _next(self, length: float) -> tuple[float, float]:
        start = (self._begun or 0.0) + self._judged[length] * self.windows.step * length
        return start, start + length

    def _over(self, now: float, ended: bool) -> Iterator[tuple[float, float]]:
        """Yield the windows that are over, each once."""
        for length in self.windows.lengths:
            # A search looks at windows of which no more than the step is cut off at the end.
            cut_off = self.windows.step * length if ended else -self.lookahead
            while self._next(length)[1] < now + cut_off + (0 if ended else _SLACK):
                yield self._next(length)
                self._judged[length] += 1

    def _take(self, number: int, hit: SentenceHit, now: float) -> list[SentenceHit]:
        """Hold a hit, unless a better or an earlier one overlaps it."""
        if any(self._overlap(known, hit) for known in self._reported.get(number, ())):
            return []
        release, held = self._held.get(number, (now + self.hold, hit))
        if held is hit or self._overlap(held, hit):
            self._held[number] = (release, max(held, hit, key=lambda one: one.score))
            return []
        reported = [self._report(number)]
        return reported + self._take(number, hit, now)

    def _report(self, number: int) -> SentenceHit:
        _, hit = self._held.pop(number)
        earliest = hit.judged[1] - 2 * max(self.windows.lengths)
        recent = [one for one in self._reported.get(number, ()) if one.judged[1] > earliest]
        self._reported[number] = [*recent, hit]
        return hit

    def _overlap(self, one: SentenceHit, other: SentenceHit) -> bool:
        """Whether a search would keep only one of two hits: by their windows, or their events."""
        windows = [Moment("", *hit.judged, hit.score) for hit in (one, other)]
        pairs = (windows, [one, other])
        return any(len(self.windows.without_overlaps(pair)) < 2 for pair in pairs)
