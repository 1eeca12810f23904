"""Lessons: pictures and the words said about them, read from files and described by features.

A word comes as text, as a recording or both; there may be several per picture. Files are a folder
of pictures with words beside them, or a list of pairs.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.errors import SoundError, TeachingError
from wordsight.attributes.features.pictures import PictureFeature, picture_features
from wordsight.attributes.features.sounds import Sound, read_sound
from wordsight.attributes.features.speech import speech_features, split_words
from wordsight.attributes.settings import AttributeSettings
from wordsight.errors import FormatError
from wordsight.files import AUDIO_SUFFIXES, IMAGE_SUFFIXES, check_plain
from wordsight.progress import Progress
from wordsight.video.images import checked_image, read_image

__all__ = [
    "LessonFiles",
    "Lessons",
    "PictureSpace",
    "SpokenWord",
    "Utterance",
    "describe_pictures",
    "find_lessons",
    "make_lessons",
    "read_lesson_files",
    "split_utterances",
]


Array = NDArray[np.float64]

Picture = NDArray[np.uint8]

_BATCH = 256  # pictures described together

_LEAST_SPREAD = 1e-6  # of a column relative to the widest: less is rounding
_USUAL_SPREAD = 0.1  # the same: columns that vary less count less


@dataclass(frozen=True, eq=False)
class SpokenWord:
    """A word about a picture.

    Attributes:
        text: Its spelling, if known.
        sound: Its recording, if any.
    """

    text: str | None = None
    sound: Sound | None = None

    def __post_init__(self) -> None:
        text = " ".join(self.text.split()).casefold() if self.text is not None else None
        if not text and self.sound is None:
            raise TeachingError("a word needs a spelling, a recording or both; it has neither.")
        object.__setattr__(self, "text", text or None)


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
        kinds: Per kind of picture feature ``(N, D)``.
        texts: The spelling of each word, or ``None``.
        speech: ``(N, S)`` speech features; a row of NaN without a recording.
        sounds: The recording of each word, or ``None`` if there is none or it was not kept.
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


def make_lessons(
    pictures: Sequence[Picture],
    words: Sequence[Utterance],
    settings: AttributeSettings,
    *,
    progress: Progress | None = None,
) -> Lessons:
    """Describe pictures and the words about them.

    Args:
        pictures: RGB ``(H, W, 3)`` uint8, of any sizes.
        words: One utterance per picture; see :data:`Utterance`.
        settings: The features to use.
        progress: Called as pictures are described.

    Raises:
        TeachingError: If the numbers differ or are 0, or a recording is silent.
    """
    if len(pictures) != len(words):
        raise TeachingError(f"{len(pictures)} pictures came with {len(words)} utterances.")
    if not len(pictures):
        raise TeachingError("there is nothing to learn from: no pictures with words.")
    spoken, owners = split_utterances(words, several=settings.several)
    kinds = describe_pictures(pictures, settings.pictures, progress=progress)
    sounds = tuple(word.sound for word in spoken)
    recorded = [number for number, sound in enumerate(sounds) if sound is not None]
    rows = speech_features(settings.speech).describe([s for s in sounds if s is not None])
    speech = np.full((len(spoken), rows.shape[1] if recorded else 0), np.nan)
    if recorded:
        speech[recorded] = rows
    return Lessons(
        tuple(kind[owners] for kind in kinds), tuple(word.text for word in spoken), speech, sounds
    )


@dataclass(frozen=True, eq=False)
class PictureSpace:
    """A common space of all picture features: an affine map per kind, learned without words.

    Attributes:
        means: Per kind ``(D,)``, subtracted first.
        maps: Per kind ``(D, k)`` principal axes, scaled so that each kind has total variance 1.
    """

    means: tuple[Array, ...]
    maps: tuple[Array, ...]

    @classmethod
    def fit(cls, kinds: Sequence[Array], num_axes: int | None = 30) -> "PictureSpace":
        """Learn the axes.

        Args:
            kinds: Per kind of feature ``(N, D)``.
            num_axes: Axes kept of each kind; ``None`` keeps the columns, scaled.
        """
        means = tuple(kind.mean(axis=0) for kind in kinds)
        maps = tuple(_axes(kind - mean, num_axes) for kind, mean in zip(kinds, means, strict=True))
        return cls(means, maps)

    def transform(self, kinds: Sequence[Array]) -> Array:
        """Return ``(N, sum of k)``."""
        return np.hstack(
            [
                (kind - mean) @ axes
                for kind, mean, axes in zip(kinds, self.means, self.maps, strict=True)
            ]
        )

    @property
    def parts(self) -> list[slice]:
        """The columns of each kind."""
        ends = np.cumsum([0, *(axes.shape[1] for axes in self.maps)])
        return [slice(int(a), int(b)) for a, b in pairwise(ends)]


def _axes(centred: Array, num_axes: int | None) -> Array:
    spread = centred.std(axis=0)
    most = max(spread.max(initial=0), 1e-12)
    used = spread > _LEAST_SPREAD * most
    if num_axes is None:
        return np.asarray(np.diag(1 / np.where(used, spread, 1))[:, used])
    # A column that hardly varies in the lessons is not blown up: elsewhere it may vary more.
    scale = np.where(used, 1 / np.hypot(spread, _USUAL_SPREAD * most), 0.0)
    _, s, vt = np.linalg.svd(centred * scale, full_matrices=False)
    kept = (s > 1e-8 * max(s.max(initial=0), 1e-12)) & (np.arange(len(s)) < num_axes)
    size = np.sqrt(max((s[kept] ** 2).sum() / len(centred), 1e-300))
    return np.asarray(scale[:, None] * vt[kept].T / size)


LIST = "pairs.jsonl"


@dataclass(frozen=True)
class LessonFiles:
    """The files of a picture and the words about it.

    Attributes:
        picture: The picture's file.
        words: Words as text.
        sounds: Files of recordings; if as many as words, the recordings of these.
    """

    picture: Path
    words: tuple[str, ...] = ()
    sounds: tuple[Path, ...] = ()


def find_lessons(source: Path) -> list[LessonFiles]:
    """Find the lessons in a folder or a list of pairs.

    A list has one JSON object per line: ``{"image": FILE, "word": TEXT}`` or ``"sound": FILE``,
    or both, or several under ``"words"`` or ``"sounds"``; file names are relative to the list. A
    folder contains such a list as ``pairs.jsonl``; or pictures with a text file or recording of the
    same name (``cup.png``, ``cup.wav``; also ``cup-2.wav``); or a folder per word.

    Raises:
        TeachingError: If no lessons are found.
        FormatError: If a list is damaged.
    """
    if source.is_file():
        return list(_listed(source))
    if not source.is_dir():
        raise TeachingError(f"{source} does not exist; expected a folder or a list of pairs.")
    if (source / LIST).exists():
        return list(_listed(source / LIST))
    lessons = list(_beside(source)) or list(_by_folder(source))
    if not lessons:
        raise TeachingError(
            f"{source} contains no lessons: expected {LIST}, or pictures (.png, .jpg) with a .txt "
            "or .wav of the same name, or a folder of pictures for every word."
        )
    return lessons


def read_lesson_files(
    lessons: list[LessonFiles],
) -> tuple[list[NDArray[np.uint8]], list[Utterance]]:
    """Read the pictures and the words of lessons.

    Raises:
        VideoError: If a picture cannot be read.
        SoundError: If a recording cannot be read or is silent.
    """
    pairs = [(read_image(lesson.picture), _utterance(lesson)) for lesson in lessons]
    return [picture for picture, _ in pairs], [utterance for _, utterance in pairs]


def _utterance(lesson: LessonFiles) -> Utterance:
    sounds = [_read_audible(path) for path in lesson.sounds]
    if len(sounds) == len(lesson.words) and sounds:
        return [SpokenWord(word, sound) for word, sound in zip(lesson.words, sounds, strict=True)]
    return [*lesson.words, *sounds]


def _read_audible(path: Path) -> Sound:
    sound = read_sound(path)
    if sound.silent:
        raise SoundError(f"{path} is silent; record it again, or leave its pair out.")
    return sound


def _listed(path: Path) -> Iterator[LessonFiles]:
    text = _read_text(path, "one JSON object per line")
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            values = json.loads(line)
            yield _lesson(path.parent, values)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise FormatError(
                f"{path}, line {number}: expected an object with image and word, sound, words or "
                f"sounds, got {line[:80]!r} ({error})."
            ) from error


def _lesson(folder: Path, values: dict[str, Any]) -> LessonFiles:
    words = _texts(values, "word", "words")
    sounds = _texts(values, "sound", "sounds")
    if not words and not sounds:
        raise ValueError("no word and no sound")
    return LessonFiles(
        folder / str(values["image"]), tuple(words), tuple(folder / name for name in sounds)
    )


def _texts(values: dict[str, Any], one: str, several: str) -> list[str]:
    given = values.get(several, [])
    if isinstance(given, str):
        given = [given]
    return [str(text) for text in ([values[one]] if one in values else []) + list(given)]


def _beside(folder: Path) -> Iterator[LessonFiles]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    companions: dict[tuple[Path, str], list[Path]] = {}
    for path in files:
        if path.suffix.lower() in (*AUDIO_SUFFIXES, ".txt"):
            stem, _, tail = path.stem.rpartition("-")
            companions.setdefault((path.parent, path.stem), []).append(path)
            if stem and tail.isdigit():
                companions.setdefault((path.parent, stem), []).append(path)
    for path in files:
        beside = companions.get((path.parent, path.stem), [])
        if path.suffix.lower() in IMAGE_SUFFIXES and beside:
            texts = [_read_text(p, "a word") for p in beside if p.suffix.lower() == ".txt"]
            words = tuple(word for text in texts for word in text.split())
            sounds = tuple(p for p in beside if p.suffix.lower() in AUDIO_SUFFIXES)
            if not words and not sounds:
                raise TeachingError(f"{beside[0]} is empty; write a word, or remove it.")
            yield LessonFiles(path, words, sounds)


def _by_folder(folder: Path) -> Iterator[LessonFiles]:
    for inner in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in sorted(inner.iterdir()):
            if path.suffix.lower() in IMAGE_SUFFIXES:
                yield LessonFiles(path, (inner.name,))


def _read_text(path: Path, expected: str) -> str:
    try:
        check_plain(path)
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path} is not text in UTF-8; expected {expected}. Save it as UTF-8."
        ) from error
