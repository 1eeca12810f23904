"""Changing a word by hand, and what the change does to sentences said of the library's videos."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from wordsight.errors import WordsightError
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon, SentenceScore
from wordsight.meaning.tasks.clip import score_all
from wordsight.progress import Progress
from wordsight.records import Clip
from wordsight.workflows.annotator import ClipAnnotator
from wordsight.workflows.clips import clips_with_sentences

__all__ = ["Effect", "edited", "effects_of"]

_LEAST = 1e-6  # share of a bin; what was called impossible may happen all the same
_MOST_CLIPS = 300  # looked at in one comparison


@dataclass(frozen=True)
class Effect:
    """What a change does to one sentence about one video.

    Attributes:
        video_id: The video.
        sentence: The sentence.
        said: Whether it is said of this video; otherwise of another one.
        before: Its score with the word as it was.
        after: Its score with the word as it is to be.
        holds_before: Whether it was said to be true.
        holds_after: Whether it is.
    """

    video_id: str
    sentence: str
    said: bool
    before: float
    after: float
    holds_before: bool
    holds_after: bool


def edited(
    lexicon: LearnedLexicon, entry: str, edits: Sequence[Mapping[str, Any]]
) -> LearnedLexicon:
    """Return a lexicon in which distributions of one word are replaced.

    Args:
        lexicon: The lexicon.
        entry: The word.
        edits: Each with ``feature``, ``roles``, ``state`` and ``shares``, which are scaled to sum
            to one.

    Raises:
        WordsightError: If there is no such word, state or feature, or shares are none.
    """
    word = lexicon[entry]
    places = [(slot.feature, tuple(slot.roles)) for slot in word.slots]
    tables = [table.copy() for table in word.emissions]
    for edit in edits:
        place = (edit["feature"], tuple(edit["roles"]))
        if place not in places or edit["state"] >= word.num_states:
            raise WordsightError(
                f"{entry} has no state {edit['state'] + 1} or no feature {edit['feature']}."
            )
        row = tables[places.index(place)][edit["state"]]
        shares = np.asarray(edit["shares"], dtype=np.float64)
        usable = shares.shape == row.shape and np.isfinite(shares).all() and (shares >= 0).all()
        if not usable or shares.sum() <= 0:
            raise WordsightError(
                f"{edit['feature']} needs {len(row)} shares of 0 or more that are not all 0, got "
                f"{len(shares)}."
            )
        kept = np.maximum(shares / shares.sum(), _LEAST)
        row[:] = kept / kept.sum()
    changed = replace(word, emissions=tuple(tables))
    return lexicon.with_words({**lexicon.words, entry: changed})


def effects_of(
    library: Library,
    entry: str,
    before: LearnedLexicon,
    after: LearnedLexicon,
    progress: Progress,
    namer: ClipAnnotator | None = None,
) -> list[Effect]:
    """Score the sentences with a word before and after a change, those that change most first.

    Each is asked of the video it is said of and of the next one of which it is not said, so that a
    word that has become true of everything shows.
    """
    clips, said = clips_with_sentences(library)
    spoken = [_with(entry, each, (before, after)) for each in said]
    count = len(clips)
    asked: list[tuple[int, list[tuple[str, bool]]]] = []
    for number in range(count):
        other = next(
            (n for n in ((number - k) % count for k in range(1, count)) if spoken[n]), number
        )
        elsewhere = [text for text in spoken[other] if text not in said[number]]
        texts = [(text, True) for text in spoken[number]] + [(t, False) for t in elsewhere[:2]]
        if texts:
            asked.append((number, texts))
    found: list[Effect] = []
    for done, (number, texts) in enumerate(asked[:_MOST_CLIPS], start=1):
        clip = clips[number] if namer is None else namer.name_clip(library, clips[number])
        found += _effects(clip, texts, before, after)
        progress(done, min(len(asked), _MOST_CLIPS), "scoring before and after")
    flips = [one.holds_before != one.holds_after for one in found]
    moved = [abs(one.after - one.before) for one in found]
    order = sorted(range(len(found)), key=lambda n: (not flips[n], -moved[n]))
    return [found[number] for number in order]


def _with(entry: str, texts: Sequence[str], lexicons: Sequence[LearnedLexicon]) -> list[str]:
    """Return the sentences with a word that all lexicons can read, each once."""
    kept = []
    for text in dict.fromkeys(texts):
        try:
            parsed = [lexicon.sentence(text) for lexicon in lexicons]
        except WordsightError:
            continue
        if any(word.entry == entry for word in parsed[0].words):
            kept.append(text)
    return kept


def _effects(
    clip: Clip,
    texts: Sequence[tuple[str, bool]],
    before: LearnedLexicon,
    after: LearnedLexicon,
) -> list[Effect]:
    asked = [text for text, _ in texts]
    rows = zip(texts, score_all(before, clip, asked), score_all(after, clip, asked), strict=True)
    return [
        Effect(clip.video_id, text, said, _finite(was), _finite(now), was.holds, now.holds)
        for (text, said), was, now in rows
    ]


def _finite(found: SentenceScore) -> float:
    return float(np.nan_to_num(found.score, nan=0.0, posinf=1e9, neginf=-1e9))
