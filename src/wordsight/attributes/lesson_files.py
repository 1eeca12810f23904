"""Files of lessons: a folder of pictures with words beside them, or a list of pairs."""

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.attributes.features.sounds import Sound, read_sound
from wordsight.attributes.features.speech import speech_features
from wordsight.attributes.lessons import SpokenWord, Utterance
from wordsight.errors import FormatError, SoundError, SoundWarning, TeachingError
from wordsight.files import AUDIO_SUFFIXES, IMAGE_SUFFIXES, check_plain
from wordsight.video.images import read_image

__all__ = ["LessonFiles", "find_lessons", "read_lesson_files", "read_source"]

Array = NDArray[np.float64]

LIST = "pairs.jsonl"

_MOST_NAMED = 3  # recordings that a message names
_FAINT = 0.01  # of the usual loudness: the noise of a room, or of a microphone


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


def find_lessons(
    source: Path, words: tuple[str, ...] = (), like: str | None = None
) -> list[LessonFiles]:
    """Find the lessons in a folder or a list of pairs, or that of one picture.

    A list has one JSON object per line: ``{"image": FILE, "word": TEXT}`` or ``"sound": FILE``,
    or both, or several under ``"words"`` or ``"sounds"``; and what else was measured of the thing,
    ``"sources": {"weight": 1.2, "knock": FILE}``; and ``"like": TEXT``, a known word of the
    attribute that the word names, where that was asked for. File names are relative to the list. A
    folder contains such a list as ``pairs.jsonl``; or pictures with a text file or recording of the
    same name (``cup.png``, ``cup.wav``; also ``cup-2.wav``); or a folder per word.

    Args:
        source: A folder, a list, or one picture.
        words: What the one picture is called; else what stands or sounds beside it.
        like: A word of the same attribute, if known.

    Raises:
        TeachingError: If no lessons are found.
        FormatError: If a list is damaged.
    """
    if source.suffix.lower() in IMAGE_SUFFIXES and not source.is_dir():
        return [_one_picture(source, words, like)]
    if words or like is not None:
        raise TeachingError(
            f"a word can be given for one picture (.png, .jpg) only, not for {source}; write the "
            "words beside the pictures, or in a list."
        )
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


def _one_picture(path: Path, words: tuple[str, ...], like: str | None) -> LessonFiles:
    if not path.exists():
        raise TeachingError(f"{path} does not exist; check the name.")
    if words:
        return LessonFiles(path, words, like=like)
    beside = _companions(one for one in sorted(path.parent.iterdir()) if one.is_file())
    found = beside.get((path.parent, path.stem), [])
    if found:
        return replace(_with_words(path, found), like=like)
    raise TeachingError(
        f"nothing says what {path} is; give a word with --word, or put {path.stem}.txt or "
        f"{path.stem}.wav beside it."
    )


def read_lesson_files(
    lessons: list[LessonFiles],
) -> tuple[list[NDArray[np.uint8]], list[Utterance], dict[str, Array]]:
    """Read the pictures and the words of lessons, and what else was measured.

    Raises:
        VideoError: If a picture cannot be read.
        SoundError: If a recording cannot be read or is silent.
        TeachingError: If a source has more numbers in one lesson than in another.
    """
    heard = _heard(lessons)
    pairs = [(read_image(lesson.picture), _utterance(lesson, heard)) for lesson in lessons]
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


def _heard(lessons: list[LessonFiles]) -> dict[Path, Sound]:
    """Return the recordings of lessons by file; none is silent, and faint ones are reported."""
    heard = {path: read_sound(path) for lesson in lessons for path in lesson.sounds}
    silent = [path for path, sound in heard.items() if sound.silent]
    if silent:
        raise SoundError(f"silent: {_some(silent)}; record again, or leave the pairs out.")
    loudness = {path: float(np.std(sound.samples)) for path, sound in heard.items()}
    least = _FAINT * float(np.median([*loudness.values()])) if loudness else 0.0
    faint = [path for path, level in loudness.items() if level < least]
    if faint:
        warnings.warn(
            f"{_some(faint)}: far quieter than the other recordings; listen whether a word is "
            "said, else leave the pairs out.",
            SoundWarning,
            stacklevel=3,
        )
    return heard


def _some(paths: list[Path]) -> str:
    more = f" and {len(paths) - _MOST_NAMED} more" if len(paths) > _MOST_NAMED else ""
    return ", ".join(map(str, paths[:_MOST_NAMED])) + more


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


def _utterance(lesson: LessonFiles, heard: Mapping[Path, Sound]) -> Utterance:
    sounds = [heard[path] for path in lesson.sounds]
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
    companions = _companions(files)
    for path in files:
        beside = companions.get((path.parent, path.stem), [])
        if path.suffix.lower() in IMAGE_SUFFIXES and beside:
            yield _with_words(path, beside)


def _companions(files: Iterable[Path]) -> dict[tuple[Path, str], list[Path]]:
    """Return the texts and recordings that may belong to a picture, by its folder and stem."""
    companions: dict[tuple[Path, str], list[Path]] = {}
    for path in files:
        if path.suffix.lower() in (*AUDIO_SUFFIXES, ".txt"):
            stem, _, tail = path.stem.rpartition("-")
            companions.setdefault((path.parent, path.stem), []).append(path)
            if stem and tail.isdigit():
                companions.setdefault((path.parent, stem), []).append(path)
    return companions


def _with_words(picture: Path, beside: list[Path]) -> LessonFiles:
    texts = [_read_text(p, "a word") for p in beside if p.suffix.lower() == ".txt"]
    words = tuple(word for text in texts for word in text.split())
    sounds = tuple(p for p in beside if p.suffix.lower() in AUDIO_SUFFIXES)
    if not words and not sounds:
        raise TeachingError(f"{beside[0]} is empty; write a word, or remove it.")
    return LessonFiles(picture, words, sounds)


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
