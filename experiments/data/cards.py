"""Loaders of real attribute data: photos of number cards, and single words cut from speech.

Photos are named ``{split}_{colour}_{digit}_{id}.png`` (or ``.jpg``). Speech is a folder with
``index.csv`` (columns ``wav``, ``kind`` and ``word``, kind ``c`` for colours and ``d`` for digits)
and the recordings beside it or in ``wav/``; without an index, names such as ``bbaf2n_c_blue.wav``
tell the same.
"""

import csv
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.report import say
from wordsight.attributes import Sound, read_sound
from wordsight.errors import FormatError, WordsightError
from wordsight.files import IMAGE_SUFFIXES
from wordsight.video import read_image

__all__ = ["DIGITS", "Photos", "Recordings", "read_photos", "read_recordings"]

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_PHOTO = re.compile(r"^(?:.*?_)??(?P<colour>[a-z]+)_(?P<digit>\d)(?:_.*)?$", re.IGNORECASE)
_RECORDING = re.compile(r"_(?P<kind>[cd])_(?P<word>[a-z]+)$", re.IGNORECASE)


@dataclass(frozen=True)
class Photos:
    """Photos of cards.

    Attributes:
        images: RGB pictures.
        colours: ``(N,)`` colour words.
        digits: ``(N,)`` digit words.
    """

    images: list[NDArray[np.uint8]]
    colours: NDArray[np.str_]
    digits: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.images)


@dataclass(frozen=True)
class Recordings:
    """Recorded words.

    Attributes:
        sounds: The recordings.
        kinds: ``(M,)`` "c" for colours, "d" for digits.
        words: ``(M,)`` the words.
    """

    sounds: list[Sound]
    kinds: NDArray[np.str_]
    words: NDArray[np.str_]


def read_photos(folder: Path) -> Photos:
    """Read all photos of a folder, in order of their names; what cannot be used is said."""
    if not folder.is_dir():
        raise FormatError(f"{folder} is not a folder of photos.")
    images, colours, digits = [], [], []
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES):
        parts = _PHOTO.match(path.stem)
        if parts is None:
            say(f"left out {path.name}: expected {{split}}_{{colour}}_{{digit}}_{{id}}")
            continue
        try:
            images.append(read_image(path))
        except WordsightError as error:
            say(f"left out {path.name}: {error}")
            continue
        colours.append(parts["colour"].lower())
        digits.append(DIGITS[int(parts["digit"])])
    if not images:
        raise FormatError(
            f"{folder} holds no photos named {{split}}_{{colour}}_{{digit}}_{{id}}.png or .jpg."
        )
    return Photos(images, np.array(colours), np.array(digits))


def read_recordings(folder: Path) -> Recordings:
    """Read all recordings of a folder that its index, or else their names, tell the word of."""
    if not folder.is_dir():
        raise FormatError(f"{folder} is not a folder of recordings.")
    sounds, kinds, words = [], [], []
    for path, kind, word in _listed(folder):
        try:
            sound = read_sound(path)
        except WordsightError as error:
            say(f"left out {path.name}: {error}")
            continue
        if sound.silent:
            say(f"left out {path.name}: silent")
            continue
        sounds.append(sound)
        kinds.append(kind)
        words.append(word)
    if not sounds:
        raise FormatError(f"{folder} holds no recordings with an index.csv or telling names.")
    return Recordings(sounds, np.array(kinds), np.array(words))


def _listed(folder: Path) -> list[tuple[Path, str, str]]:
    index = folder / "index.csv"
    if not index.exists():
        found = ((path, _RECORDING.search(path.stem)) for path in sorted(folder.rglob("*.wav")))
        return [(p, m["kind"].lower(), m["word"].lower()) for p, m in found if m is not None]
    with index.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if rows and not {"wav", "kind", "word"} <= set(rows[0]):
        raise FormatError(f"{index} must have the columns wav, kind and word.")
    return [
        (_place(folder, row["wav"]), row["kind"].strip().lower(), row["word"].strip().lower())
        for row in rows
    ]


def _place(folder: Path, name: str) -> Path:
    inner = folder / "wav" / name
    return inner if inner.exists() else folder / name
