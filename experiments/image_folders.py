"""Reading pictures with their classes: a folder per class, or classes told by file names."""

from collections import Counter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.report import say
from wordsight.errors import FormatError, VideoError
from wordsight.files import IMAGE_SUFFIXES
from wordsight.video import read_image

__all__ = ["ImageFolder", "find_images", "read_images"]


ImageFolder = list[tuple[Path, str]]


def find_images(data: Path) -> ImageFolder:
    """Return the pictures under a folder, each with its class.

    A picture's class is the folder it lies in, seen from ``data``. Where all lie in one folder, it
    is what their names have before the last ``_``.

    Raises:
        FormatError: If there are no two pictures of one class, or no two classes.
    """
    if not data.is_dir():
        raise FormatError(f"{data} is not a folder; --data must name a folder of pictures.")
    files = sorted(p for p in data.rglob("*") if p.suffix.lower() in IMAGE_SUFFIXES and p.is_file())
    folders = [file.parent.relative_to(data).as_posix() for file in files]
    classes = folders if len(set(folders)) > 1 else [_named_class(file) for file in files]
    counts = Counter(classes)
    if len(counts) < 2 or max(counts.values()) < 2:
        raise FormatError(
            f"{data} must hold a folder of pictures (.png, .jpg) per class, at least two classes "
            f"and two pictures of one; found {len(files)} pictures of {len(counts)} classes."
        )
    return list(zip(files, classes, strict=True))


def read_images(
    folder: ImageFolder, longest: int
) -> tuple[list[NDArray[np.uint8]], list[str], list[str]]:
    """Read pictures, shrunk to ``longest`` pixels; those that are damaged are named and left out.

    Returns:
        The pictures, their classes and their names.
    """
    import cv2

    images, classes, names = [], [], []
    for path, label in folder:
        try:
            image = read_image(path)
        except VideoError as error:
            say(f"left out: {error}")
            continue
        factor = longest / max(image.shape[:2])
        if factor < 1:
            size = (max(1, round(image.shape[1] * factor)), max(1, round(image.shape[0] * factor)))
            image = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA))
        images.append(image)
        classes.append(label)
        names.append(path.name)
    return images, classes, names


def _named_class(path: Path) -> str:
    return path.stem.rpartition("_")[0]
