"""Lessons: pictures and the words said about them, described by features.

A word comes as text, as a recording or both; there may be several per picture.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wordsight.attributes.features.pictures import PictureFeature, picture_features
from wordsight.attributes.features.sounds import Sound
from wordsight.attributes.features.speech import speech_features, split_words
from wordsight.attributes.settings import AttributeSettings
from wordsight.errors import TeachingError
from wordsight.progress import Progress
from wordsight.video.images import checked_image

__all__ = [
    "Lessons",
    "SpokenWord",
    "Utterance",
    "describe_pictures",
    "describe_sources",
    "joined_lessons",
    "make_lessons",
    "split_utterances",
]


Array = NDArray[np.float64]

Picture = NDArray[np.uint8]

_BATCH = 256  # pictures described together


@dataclass(frozen=True, eq=False)
class SpokenWord:
    """A word about a picture.

    Attributes:
        text: Its spelling, if known.
        sound: Its recording, if any.
        like: A word of the same attribute, if known: of the question that this one answers.
    """

    text: str | None = None
    sound: Sound | None = None
    like: str | None = None

    def __post_init__(self) -> None:
        text = " ".join(self.text.split()).casefold() if self.text is not None else None
        if not text and self.sound is None:
            raise TeachingError("a word needs a spelling, a recording or both; it has neither.")
        object.__setattr__(self, "text", text or None)
        like = " ".join((self.like or "").split()).casefold()
        object.__setattr__(self, "like", like or None)


Utterance = str | Sound | SpokenWord | Sequence[str | Sound | SpokenWord]
"""A word in any form, or several; a text is split at spaces, a recording at pauses."""


def split_utterances(
    utterances: Sequence[Utterance], *, several: bool = True
) -> tuple[list[SpokenWord], NDArray[np.intp]]:
    """Split utterances into words.

    Args:
        utterances: One per picture.
        several: Whether a text is split at spaces and a recording at pauses; otherwise each is one
            word.

    Returns:
        The words, and ``(M,)`` the number of the utterance each belongs to.

    Raises:
        TeachingError: If an utterance contains no word.
    """
    words: list[SpokenWord] = []
    owners: list[int] = []
    for number, utterance in enumerate(utterances):
        given: list[Any] = list(utterance) if isinstance(utterance, list | tuple) else [utterance]
        own = [word for one in given for word in _words(one, several)]
        if not own:
            raise TeachingError(f"utterance {number} contains no word; leave its picture out.")
        words += own
        owners += [number] * len(own)
    return words, np.array(owners, dtype=np.intp)


def _words(one: Any, several: bool) -> list[SpokenWord]:
    if isinstance(one, SpokenWord):
        return [one]
    if isinstance(one, Sound):
        return [SpokenWord(sound=sound) for sound in (split_words(one) if several else [one])]
    if isinstance(one, str):
        return [SpokenWord(text=text) for text in (one.split() if several else [one])]
    raise TeachingError(f"a word must be text or a sound, got {type(one).__name__}.")


@dataclass(frozen=True, eq=False)
class Lessons:
    """N pairs of a picture and one word.

    Attributes:
        kinds: Per kind of picture feature ``(N, D)``, and the same of every further source.
        texts: The spelling of each word, or ``None``.
        speech: ``(N, S)`` speech features; a row of NaN without a recording.
        sounds: The recording of each word, or ``None`` if there is none or it was not kept.
        sources: Names of the further sources, which are the last kinds; a row of NaN where a thing
            was not measured.
        likes: Per lesson a word of the same attribute as its own, or ``None``; none by default.
    """

    kinds: tuple[Array, ...]
    texts: tuple[str | None, ...]
    speech: Array
    sounds: tuple[Sound | None, ...]
    sources: tuple[str, ...] = ()
    likes: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "likes", self.likes or (None,) * len(self.texts))
        counts = {len(kind) for kind in self.kinds} | {len(self.texts), len(self.speech)}
        if len(counts | {len(self.sounds)}) != 1:
            raise TeachingError(f"lessons need a word for every picture, got {sorted(counts)}.")

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def spoken(self) -> NDArray[np.bool_]:
        """``(N,)`` whether there is a recording."""
        if not self.speech.shape[1]:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(np.isfinite(self.speech).all(axis=1))


def describe_pictures(
    pictures: Sequence[Picture],
    features: str | Sequence[PictureFeature] = "recommended",
    *,
    progress: Progress | None = None,
) -> tuple[Array, ...]:
    """Return ``(N, D)`` per kind of feature.

    Raises:
        VideoError: If something is not an RGB picture.
    """
    chosen = picture_features(features)
    checked = [checked_image(picture) for picture in pictures]
    tables: list[list[Array]] = [[] for _ in chosen]
    for start in range(0, len(checked), _BATCH):
        batch = checked[start : start + _BATCH]
        for rows, feature in zip(tables, chosen, strict=True):
            rows.append(feature.describe(batch))
        if progress is not None:
            progress(min(start + _BATCH, len(checked)), len(checked), "Looking at pictures")
    return tuple(np.concatenate(rows) if rows else np.zeros((0, 0)) for rows in tables)


def describe_sources(
    sources: Mapping[str, ArrayLike], count: int, widths: Mapping[str, int] | None = None
) -> dict[str, Array]:
    """Check measurements of things beside their pictures: weights, sounds, touches.

    Args:
        sources: Per source ``(N,)`` or ``(N, D)`` numbers, NaN where a thing was not measured.
        count: N.
        widths: The sources there may be, and how many numbers each has; those that are not given
            are left unmeasured.

    Returns:
        Per source ``(N, D)``, a row of NaN where anything of it is missing.

    Raises:
        TeachingError: If a source is unknown, or is not a table of numbers with a row per picture.
    """
    wrong = sorted(set(sources) - set(sources if widths is None else widths))
    if wrong:
        taught = ", ".join(widths or ()) or "pictures alone"
        raise TeachingError(f"there is no source {', '.join(wrong)}; taught were {taught}.")
    tables = {name: np.full((count, width), np.nan) for name, width in (widths or {}).items()}
    for name, given in sources.items():
        try:
            table = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise TeachingError(f"source {name!r} must be numbers, a row per picture.") from None
        table = table[:, None] if table.ndim == 1 else table
        if table.ndim != 2 or len(table) != count or not table.shape[1]:
            raise TeachingError(
                f"source {name!r} must have a row of numbers for each of {count} pictures, got "
                f"shape {table.shape}."
            )
        if widths is not None and table.shape[1] != widths[name]:
            raise TeachingError(
                f"source {name!r} was taught with {widths[name]} numbers, got {table.shape[1]}."
            )
        tables[name] = np.where(np.isfinite(table).all(axis=1, keepdims=True), table, np.nan)
    return tables


def make_lessons(
    pictures: Sequence[Picture],
    words: Sequence[Utterance],
    settings: AttributeSettings,
    *,
    sources: Mapping[str, ArrayLike] | None = None,
    progress: Progress | None = None,
) -> Lessons:
    """Describe pictures and the words about them.

    Args:
        pictures: RGB ``(H, W, 3)`` uint8, of any sizes.
        words: One utterance per picture; see :data:`Utterance`.
        settings: The features to use.
        sources: What else was measured of each thing; see :func:`describe_sources`.
        progress: Called as pictures are described.

    Raises:
        TeachingError: If the numbers differ or are 0, or a recording is silent.
    """
    if len(pictures) != len(words):
        raise TeachingError(f"{len(pictures)} pictures came with {len(words)} utterances.")
    if not len(pictures):
        raise TeachingError("there is nothing to learn from: no pictures with words.")
    spoken, owners = split_utterances(words, several=settings.several)
    more = describe_sources(sources or {}, len(pictures))
    kinds = describe_pictures(pictures, settings.pictures, progress=progress) + tuple(more.values())
    sounds = tuple(word.sound for word in spoken)
    recorded = [number for number, sound in enumerate(sounds) if sound is not None]
    rows = speech_features(settings.speech).describe([s for s in sounds if s is not None])
    speech = np.full((len(spoken), rows.shape[1] if recorded else 0), np.nan)
    if recorded:
        speech[recorded] = rows
    return Lessons(
        tuple(kind[owners] for kind in kinds),
        tuple(word.text for word in spoken),
        speech,
        sounds,
        tuple(more),
        tuple(word.like for word in spoken),
    )


def joined_lessons(*parts: Lessons) -> Lessons:
    """Return lessons one after another.

    Raises:
        TeachingError: If recordings are described by different features.
    """
    width = max(one.speech.shape[1] for one in parts)
    if {one.speech.shape[1] for one in parts} - {0, width}:
        raise TeachingError("new recordings are described by other features than the old ones.")
    speech = [
        one.speech if one.speech.shape[1] == width else np.full((len(one), width), np.nan)
        for one in parts
    ]
    # Files of early learners keep no descriptions of their pictures.
    kinds = zip(*(one.kinds for one in parts), strict=True) if parts[0].kinds else ()
    return Lessons(
        tuple(np.vstack(kind) for kind in kinds),
        tuple(text for one in parts for text in one.texts),
        np.vstack(speech),
        tuple(sound for one in parts for sound in one.sounds),
        parts[0].sources,
        tuple(like for one in parts for like in one.likes),
    )
