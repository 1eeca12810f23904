"""Refusing what cannot be meant: settings out of range, and things that are no clips or sentences.

What is only used deep inside training would otherwise end in numbers that mean nothing, or in an
error that names none of what the user gave.
"""

import math
from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import Any, SupportsFloat

from wordsight.language import Lexicon
from wordsight.meaning.errors import MeaningError
from wordsight.records import Clip, Sentence

__all__ = [
    "require_clip",
    "require_instance",
    "require_integer",
    "require_lexicon",
    "require_number",
    "require_numbers",
    "require_one_of",
    "require_pairs",
    "require_sentence",
    "require_texts",
]

SentenceLike = str | Sentence


def require_integer(name: str, value: Any, *, least: int, none: bool = False) -> None:
    """Refuse a setting that is not a whole number from ``least`` up, or nothing if that may be."""
    if none and value is None:
        return
    try:
        whole = None if isinstance(value, bool) else index(value)
    except TypeError:
        whole = None
    if whole is None or whole < least:
        or_none = ", or None" if none else ""
        raise MeaningError(f"{name} is a whole number from {least} up{or_none}, got {value!r}.")


def require_number(
    name: str,
    value: Any,
    *,
    least: float | None = None,
    above: float | None = None,
    below: float | None = None,
    none: bool = False,
) -> None:
    """Refuse a setting that is not a finite number within bounds, or nothing if that may be."""
    if none and value is None:
        return
    right = isinstance(value, SupportsFloat) and not isinstance(value, bool)
    right = right and math.isfinite(value)
    right = right and (least is None or value >= least) and (above is None or value > above)
    if not (right and (below is None or value < below)):
        bounds = {"from {:g} up": least, "above {:g}": above, "below {:g}": below}
        told = [words.format(bound) for words, bound in bounds.items() if bound is not None]
        bounded = f" {' and '.join(told)}" if told else ""
        or_none = ", or None" if none else ""
        raise MeaningError(f"{name} is a number{bounded}{or_none}, got {value!r}.")


def require_one_of(name: str, value: Any, known: Collection[Any]) -> None:
    """Refuse a setting that is none of a few."""
    # True equals 1 in Python, so that kinds are compared, too.
    if not any(type(value) is type(each) and value == each for each in known):
        raise MeaningError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}.")


def require_instance(name: str, value: Any, kind: type) -> None:
    """Refuse a setting that is of another kind."""
    if not isinstance(value, kind):
        raise MeaningError(f"{name} is a {kind.__name__}, got {value!r}.")


def require_texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Return texts; refuse what holds anything else."""
    found = tuple(values)
    if isinstance(values, str) or not all(isinstance(value, str) for value in found):
        raise MeaningError(f"{name} are texts, got {found!r}.")
    return found


def require_numbers(name: str, values: Mapping[str, Any]) -> dict[str, float]:
    """Return numbers by name; refuse what holds anything else."""
    for key, value in values.items():
        require_number(f"{name} of {key!r}", value)
    return {key: float(value) for key, value in values.items()}


def require_clip(value: Any) -> Clip:
    """Return a clip; refuse what is none."""
    if not isinstance(value, Clip):
        raise MeaningError(
            f"expected a Clip, what a detector saw between two times, got {_shown(value)}; make "
            "one with Clip.cut(video_id, detections, start, end)."
        )
    return value


def require_sentence(value: Any) -> SentenceLike:
    """Return a sentence, as text or read already; refuse what is none."""
    if not isinstance(value, str | Sentence):
        raise MeaningError(f"expected a sentence as text, got {_shown(value)}.")
    return value


def require_lexicon(value: Any) -> None:
    """Refuse what is neither a lexicon nor nothing, such as the name of its file."""
    if value is not None and not isinstance(value, Lexicon):
        raise MeaningError(
            f"lexicon is a Lexicon, got {_shown(value)}; read a file with read_lexicon(path), or "
            "leave it out to have it inferred."
        )


def require_pairs(clips: Any, sentences: Any) -> tuple[list[Clip], list[list[SentenceLike]]]:
    """Return clips and, for each, all that is said of it.

    Raises:
        MeaningError: If there are none, or they are not as many, or something else.
    """
    if isinstance(clips, Clip) or not isinstance(clips, Iterable):
        raise MeaningError(f"expected a list of clips, got {_shown(clips)}.")
    if isinstance(sentences, str | Sentence) or not isinstance(sentences, Iterable):
        raise MeaningError(
            f"expected a list with one sentence, or a list of them, for every clip, got "
            f"{_shown(sentences)}."
        )
    seen, told = [require_clip(clip) for clip in clips], list(sentences)
    if len(seen) != len(told):
        raise MeaningError(
            f"{len(seen)} clips came with {len(told)} sentences; give one sentence, or a list of "
            "them, for every clip."
        )
    if not seen:
        raise MeaningError("there is nothing to learn from: no clips were given.")
    return seen, [_all_said(one) for one in told]


def _all_said(one: Any) -> list[SentenceLike]:
    alone = isinstance(one, str | Sentence) or not isinstance(one, Iterable)
    return [require_sentence(each) for each in ([one] if alone else one)]


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
