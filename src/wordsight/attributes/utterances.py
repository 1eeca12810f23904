"""What was said of pictures: words as text, as recordings or both, one or several per picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.sounds import Sound
from wordsight.attributes.speech_features import split_words

__all__ = ["Said", "Utterance", "flatten"]


@dataclass(frozen=True, eq=False)
class Said:
    """One word that was said.

    Attributes:
        text: Its spelling, where known.
        sound: Its recording, where there is one.
    """

    text: str | None = None
    sound: Sound | None = None

    def __post_init__(self) -> None:
        text = " ".join(self.text.split()).casefold() if self.text is not None else None
        if not text and self.sound is None:
            raise TeachingError("a word must have a spelling, a recording or both; it has neither.")
        object.__setattr__(self, "text", text or None)


Utterance = str | Sound | Said | Sequence[str | Sound | Said]
"""A word in any form, or several; a text is cut at spaces, a recording at pauses."""


def flatten(
    utterances: Sequence[Utterance], *, several: bool = True
) -> tuple[list[Said], NDArray[np.intp]]:
    """Take utterances apart into words.

    Args:
        utterances: One per picture.
        several: Whether a text is cut at spaces and a recording at pauses; if not, each is one
            word.

    Returns:
        The words, and ``(M,)`` the number of the utterance each belongs to.

    Raises:
        TeachingError: If an utterance holds no word.
    """
    words: list[Said] = []
    owners: list[int] = []
    for number, utterance in enumerate(utterances):
        given: list[Any] = list(utterance) if isinstance(utterance, list | tuple) else [utterance]
        found = [word for one in given for word in _words(one, several)]
        if not found:
            raise TeachingError(f"utterance {number} holds no word; leave its picture out.")
        words += found
        owners += [number] * len(found)
    return words, np.array(owners, dtype=np.intp)


def _words(one: Any, several: bool) -> list[Said]:
    if isinstance(one, Said):
        return [one]
    if isinstance(one, Sound):
        return [Said(sound=sound) for sound in (split_words(one) if several else [one])]
    if isinstance(one, str):
        return [Said(text=text) for text in (one.split() if several else [one])]
    raise TeachingError(f"a word must be text or a sound, got {type(one).__name__}.")
