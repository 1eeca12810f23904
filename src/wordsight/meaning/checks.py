"""Checks of settings, clips and sentences, with errors that name the value the user gave."""

import math
from collections.abc import Collection, Iterable, Mapping
from operator import index
from typing import Any, SupportsFloat

from wordsight.errors import MeaningError
from wordsight.language import Lexicon
from wordsight.records import Clip, Sentence

__all__ = [
    "SentenceLike",
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
    """Require an integer of at least ``least``, or None where ``none`` is true."""
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
    """Require a finite number within bounds, or None where ``none`` is true."""
    if none and value is None:
        return
    valid = isinstance(value, SupportsFloat) and not isinstance(value, bool)
    valid = valid and math.isfinite(value)
    valid = valid and (least is None or value >= least) and (above is None or value > above)
    if not (valid and (below is None or value < below)):
        bounds = {"from {:g} up": least, "above {:g}": above, "below {:g}": below}
        given = [text.format(bound) for text, bound in bounds.items() if bound is not None]
        bounded = f" {' and '.join(given)}" if given else ""
        or_none = ", or None" if none else ""
        raise MeaningError(f"{name} is a number{bounded}{or_none}, got {value!r}.")


def require_one_of(name: str, value: Any, known: Collection[Any]) -> None:
    """Require one of a few values."""
    # True equals 1 in Python, so types are compared, too.
    if not any(type(value) is type(each) and value == each for each in known):
        raise MeaningError(f"{name} is one of {', '.join(map(repr, known))}, got {value!r}.")


def require_instance(name: str, value: Any, kind: type) -> None:
    """Require an instance of a class."""
    if not isinstance(value, kind):
        raise MeaningError(f"{name} is a {kind.__name__}, got {value!r}.")


def require_texts(name: str, values: Iterable[Any]) -> tuple[str, ...]:
    """Return several texts as a tuple."""
    texts = tuple(values)
    if isinstance(values, str) or not all(isinstance(value, str) for value in texts):
        raise MeaningError(f"{name} are texts, got {texts!r}.")
    return texts


def require_numbers(name: str, values: Mapping[str, Any]) -> dict[str, float]:
    """Return numbers by name."""
    for key, value in values.items():
        require_number(f"{name} of {key!r}", value)
    return {key: float(value) for key, value in values.items()}


def require_clip(value: Any) -> Clip:
    """Return a clip."""
    if not isinstance(value, Clip):
        raise MeaningError(
            f"expected a Clip (the detections of a video between two times), got {_shown(value)}; "
            "make one with Clip.cut(video_id, detections, start, end)."
        )
    return value


def require_sentence(value: Any) -> SentenceLike:
    """Return a sentence, as text or parsed."""
    if not isinstance(value, SentenceLike):
        raise MeaningError(f"expected a sentence as text, got {_shown(value)}.")
    return value


def require_lexicon(value: Any) -> None:
    """Require a lexicon or None; the name of a lexicon file is neither."""
    if value is not None and not isinstance(value, Lexicon):
        raise MeaningError(
            f"lexicon is a Lexicon, got {_shown(value)}; read a file with read_lexicon(path), or "
            "leave it out to have it inferred."
        )


def require_pairs(clips: Any, sentences: Any) -> tuple[list[Clip], list[list[SentenceLike]]]:
    """Return clips and, for each, a list of its sentences.

    Raises:
        MeaningError: If there are no clips, or not as many entries of sentences.
    """
    if isinstance(clips, Clip) or not isinstance(clips, Iterable):
        raise MeaningError(f"expected a list of clips, got {_shown(clips)}.")
    if isinstance(sentences, SentenceLike) or not isinstance(sentences, Iterable):
        raise MeaningError(
            f"expected a list with one sentence, or a list of them, for every clip, got "
            f"{_shown(sentences)}."
        )
    checked, entries = [require_clip(clip) for clip in clips], list(sentences)
    if len(checked) != len(entries):
        raise MeaningError(
            f"{len(checked)} clips came with {len(entries)} sentences; give one sentence, or a "
            "list of them, for every clip."
        )
    if not checked:
        raise MeaningError("there is nothing to learn from: no clips were given.")
    return checked, [_sentence_list(entry) for entry in entries]


def _sentence_list(entry: Any) -> list[SentenceLike]:
    single = isinstance(entry, SentenceLike) or not isinstance(entry, Iterable)
    return [require_sentence(each) for each in ([entry] if single else entry)]


def _shown(value: Any) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '...'}"
