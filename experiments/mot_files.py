"""Finding the sequences of a MOT data set in whatever folders they were unpacked to."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from wordsight.perception.formats.lines import sequence_info

__all__ = ["Sequence", "find_sequences"]

# Frames per second of the MOT15 sequences as published with them, for copies without seqinfo.ini.
_MOT15_RATES = {"TUD": 25.0, "ETH": 14.0, "KITTI": 10.0, "PETS09": 7.0, "ADL": 30.0, "Venice": 30.0}
_OTHER_RATE = 25.0


@dataclass(frozen=True)
class Sequence:
    """One video of the data set, as files.

    Attributes:
        name: What it is called, by its folder.
        detections: Its detections.
        truth: Its ground truth, if there is any.
        frame_rate: Frames per second.
    """

    name: str
    detections: Path
    truth: Path | None
    frame_rate: float


def find_sequences(data: Path, truth: Path | None = None) -> list[Sequence]:
    """Find ``SEQ/det/det.txt`` or ``SEQ/det.txt``, and ``SEQ/gt/gt.txt`` or ``SEQ/gt.txt``.

    Args:
        data: A folder with detections somewhere below it.
        truth: A folder with ground truth somewhere below it; else ``data`` itself and the folder
            beside it whose name ends in ``_gt``.

    Returns:
        The sequences that have detections, by name.
    """
    beside = data.resolve().with_name(data.resolve().name + "_gt")
    places = [truth] if truth is not None else [data, beside]
    known = _by_sequence(path for place in places for path in sorted(place.rglob("gt.txt")))
    found = _by_sequence(sorted(data.rglob("det.txt")))
    return [
        Sequence(name, path, known.get(name), _rate(name, path))
        for name, path in sorted(found.items())
    ]


def _by_sequence(paths: Iterable[Path]) -> dict[str, Path]:
    named: dict[str, Path] = {}
    for path in paths:
        folder = path.parent
        name = folder.parent.name if folder.name in ("det", "gt") else folder.name
        named.setdefault(name, path)
    return named


def _rate(name: str, path: Path) -> float:
    published = _MOT15_RATES.get(name.split("-")[0], _OTHER_RATE)
    return sequence_info(path).get("rate", published)
