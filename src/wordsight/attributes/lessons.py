"""Lessons: pictures and the words said about them, read from files and described by features.

A word comes as text, as a recording or both; there may be several per picture. Files are a folder
of pictures with words beside them, or a list of pairs.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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
    "SpokenWord",
    "Utterance",
    "describe_pictures",
    "describe_sources",
    "find_lessons",
    "make_lessons",
    "read_lesson_files",
    "read_source",
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
        kinds: Per kind of picture feature ``(N, D)``, and the same of every further source.
        texts: The spelling of each word, or ``None``.
        speech: ``(N, S)`` speech features; a row of NaN without a recording.
        sounds: The recording of each word, or ``None`` if there is none or it was not kept.
        sources: Names of the further sources, which are the last kinds; a row of NaN where a thing
            was not measured.
    """

    kinds: tuple[Array, ...]
    texts: tuple[str | None, ...]
    speech: Array
    sounds: tuple[Sound | None, ...]
    sources: tuple[str, ...] = ()

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
    )


LIST = "pairs.jsonl"


@dataclass(frozen=True)
class LessonFiles:
    """The files of a picture and the words about it.

    Attributes:
        picture: The picture's file.
        words: Words as text.
        sounds: Files of recordings; if as many as words, the recordings of these.
        sources: What else was measured of the thing, as :func:`read_source` reads it.
    """

    picture: Path
    words: tuple[str, ...] = ()
    sounds: tuple[Path, ...] = ()
    sources: Mapping[str, Array] = field(default_factory=dict)


def find_lessons(source: Path) -> list[LessonFiles]:
    """Find the lessons in a folder or a list of pairs.

    A list has one JSON object per line: ``{"image": FILE, "word": TEXT}`` or ``"sound": FILE``,
    or both, or several under ``"words"`` or ``"sounds"``; and what else was measured of the thing,
    ``"sources": {"weight": 1.2, "knock": FILE}``. File names are relative to the list. A
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
) -> tuple[list[NDArray[np.uint8]], list[Utterance], dict[str, Array]]:
    """Read the pictures and the words of lessons, and what else was measured.

    Raises:
        VideoError: If a picture cannot be read.
        SoundError: If a recording cannot be read or is silent.
        TeachingError: If a source has more numbers in one lesson than in another.
    """
    pairs = [(read_image(lesson.picture), _utterance(lesson)) for lesson in lessons]
    sources: dict[str, Array] = {}
    for name in sorted({name for lesson in lessons for name in lesson.sources}):
        rows = [lesson.sources.get(name) for lesson in lessons]
        widths = sorted({len(row) for row in rows if row is not None})
        if len(widths) > 1:
            raise TeachingError(
                f"source {name!r} has {widths[0]} numbers in one lesson and {widths[-1]} in "
                "another; give every lesson as many."
            )
        nothing = np.full(widths[0], np.nan)
        sources[name] = np.array([nothing if row is None else row for row in rows])
    return [picture for picture, _ in pairs], [utterance for _, utterance in pairs], sources


def read_source(value: Any, folder: Path = Path()) -> Array:
    """Read one measurement of a thing.

    Args:
        value: A number, several numbers, or the name of a file: a recording of how it sounds, or an
            array (``.npy``).
        folder: What file names are relative to.

    Returns:
        ``(D,)`` numbers.

    Raises:
        TeachingError: If it is none of these.
    """
    if isinstance(value, str):
        path = folder / value
        if path.suffix.lower() in AUDIO_SUFFIXES:
            return np.asarray(speech_features("recommended").describe([_read_audible(path)])[0])
        if path.suffix.lower() != ".npy":
            raise TeachingError(
                f"a source must be a number, numbers, a recording or an .npy file, got {value!r}."
            )
        try:
            value = np.load(path, allow_pickle=False)
        except (OSError, ValueError) as error:
            raise TeachingError(f"{path} is no array that can be read ({error}).") from None
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()
    except (TypeError, ValueError):
        numbers = np.zeros(0)
    if not len(numbers) or not np.isfinite(numbers).all():
        raise TeachingError(f"a source must be finite numbers or a file, got {value!r}.")
    return numbers


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
    sources = {
        str(name): read_source(value, folder) for name, value in values.get("sources", {}).items()
    }
    return LessonFiles(
        folder / str(values["image"]),
        tuple(words),
        tuple(folder / name for name in sounds),
        sources,
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
