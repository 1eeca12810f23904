"""Files of lessons: a folder of pictures with words beside them, or a list of pairs."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.sounds import Sound, read_sound
from wordsight.attributes.features.speech import speech_features
from wordsight.attributes.lessons import SpokenWord, Utterance
from wordsight.errors import FormatError, SoundError, TeachingError
from wordsight.files import AUDIO_SUFFIXES, IMAGE_SUFFIXES, check_plain
from wordsight.video.images import read_image

__all__ = ["LessonFiles", "find_lessons", "read_lesson_files", "read_source"]

Array = NDArray[np.float64]

LIST = "pairs.jsonl"


@dataclass(frozen=True)
class LessonFiles:
    """The files of a picture and the words about it.

    Attributes:
        picture: The picture's file.
        words: Words as text.
        sounds: Files of recordings; if as many as words, the recordings of these.
        sources: What else was measured of the thing, as :func:`read_source` reads it.
        like: A word of the same attribute as the words of this lesson, if known.
    """

    picture: Path
    words: tuple[str, ...] = ()
    sounds: tuple[Path, ...] = ()
    sources: Mapping[str, Array] = field(default_factory=dict)
    like: str | None = None


def find_lessons(source: Path) -> list[LessonFiles]:
    """Find the lessons in a folder or a list of pairs.

    A list has one JSON object per line: ``{"image": FILE, "word": TEXT}`` or ``"sound": FILE``,
    or both, or several under ``"words"`` or ``"sounds"``; and what else was measured of the thing,
    ``"sources": {"weight": 1.2, "knock": FILE}``; and ``"like": TEXT``, a known word of the
    attribute that the word names, where that was asked for. File names are relative to the list. A
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
        pairs = zip(lesson.words, sounds, strict=True)
        return [SpokenWord(word, sound, lesson.like) for word, sound in pairs]
    if lesson.like is not None:
        spelled = [SpokenWord(word, like=lesson.like) for word in lesson.words]
        return [*spelled, *(SpokenWord(sound=sound, like=lesson.like) for sound in sounds)]
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
        None if values.get("like") is None else str(values["like"]),
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
