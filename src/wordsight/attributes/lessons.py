"""Lessons: pictures and the words said of them, as the numbers everything is learned from."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import TeachingError
from wordsight.attributes.picture_features import PictureFeature, picture_features
from wordsight.attributes.settings import AttributeSettings
from wordsight.attributes.sounds import Sound
from wordsight.attributes.speech_features import speech_features
from wordsight.attributes.utterances import Utterance, flatten
from wordsight.progress import Progress
from wordsight.video.images import checked_image

__all__ = ["Lessons", "describe_pictures", "make_lessons"]

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]

_AT_ONCE = 256  # pictures described together


@dataclass(frozen=True, eq=False)
class Lessons:
    """N pairs of a picture and one word.

    Attributes:
        kinds: Per kind of picture feature ``(N, D)``.
        texts: Per pair the spelling of the word, or ``None``.
        speech: ``(N, S)`` speech features; a row of NaN where there is no recording.
        sounds: Per pair the recording, or ``None`` where there is none or it is not kept.
    """

    kinds: tuple[Array, ...]
    texts: tuple[str | None, ...]
    speech: Array
    sounds: tuple[Sound | None, ...]

    def __post_init__(self) -> None:
        counts = {len(kind) for kind in self.kinds} | {len(self.texts), len(self.speech)}
        if len(counts | {len(self.sounds)}) != 1:
            raise TeachingError(f"lessons need a word for every picture, got {sorted(counts)}.")

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """``(N,)`` true where there is a recording."""
        if not self.speech.shape[1]:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(np.isfinite(self.speech).all(axis=1))


def describe_pictures(
    pictures: Sequence[Picture],
    features: str | Sequence[PictureFeature] = "recommended",
    *,
    progress: Progress | None = None,
) -> tuple[Array, ...]:
    """Return per kind of feature ``(N, D)``.

    Raises:
        VideoError: If something is not an RGB picture.
    """
    chosen = picture_features(features)
    checked = [checked_image(picture) for picture in pictures]
    found: list[list[Array]] = [[] for _ in chosen]
    for start in range(0, len(checked), _AT_ONCE):
        block = checked[start : start + _AT_ONCE]
        for rows, feature in zip(found, chosen, strict=True):
            rows.append(feature.describe(block))
        if progress is not None:
            progress(min(start + _AT_ONCE, len(checked)), len(checked), "Looking at pictures")
    return tuple(np.concatenate(rows) if rows else np.zeros((0, 0)) for rows in found)


def make_lessons(
    pictures: Sequence[Picture],
    words: Sequence[Utterance],
    settings: AttributeSettings,
    *,
    progress: Progress | None = None,
) -> Lessons:
    """Describe pictures and what was said of each.

    Args:
        pictures: RGB ``(H, W, 3)`` uint8, of any sizes.
        words: One utterance per picture; see :data:`Utterance`.
        settings: Which features.
        progress: Told how far it has come.

    Raises:
        TeachingError: If they are not as many, or there is none, or a recording is silent.
    """
    if len(pictures) != len(words):
        raise TeachingError(f"{len(pictures)} pictures came with {len(words)} utterances.")
    if not len(pictures):
        raise TeachingError("there is nothing to learn from: no pictures with words.")
    said, owners = flatten(words, several=settings.several)
    kinds = describe_pictures(pictures, settings.pictures, progress=progress)
    sounds = tuple(word.sound for word in said)
    heard = [number for number, sound in enumerate(sounds) if sound is not None]
    rows = speech_features(settings.speech).describe([s for s in sounds if s is not None])
    speech = np.full((len(said), rows.shape[1] if heard else 0), np.nan)
    if heard:
        speech[heard] = rows
    return Lessons(
        tuple(kind[owners] for kind in kinds), tuple(word.text for word in said), speech, sounds
    )
