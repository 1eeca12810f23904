"""Detection networks that were sent, and the options of detectors.

Networks are kept in the studio's folder under generated names; options of a detector are numbers,
booleans or plain words, never the name of a file of this machine.
"""

import json
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.studio.uploads import keep_file

if TYPE_CHECKING:
    from fastapi import UploadFile

__all__ = ["Network", "detector_options", "keep_network", "list_networks", "parse_settings"]


_FOLDER = "networks"

_NOTE = "network.json"

_FILES = {"model", "labels", "path"}

_MOST_MEMORY = 16.0  # gigabytes that a network may be allowed here

_PLAIN = re.compile(r"[\w.+\-]{1,60}")


@dataclass(frozen=True)
class Network:
    """A detection network that was sent.

    Attributes:
        name: Twelve hexadecimal digits.
        title: What its file was called.
    """

    name: str
    title: str


def keep_network(folder: Path, model: "UploadFile", labels: "UploadFile | None") -> Network:
    """Keep an ONNX file and the names of its classes, and make sure that it is a network.

    Raises:
        WordsightError: If it is none that detects things.
    """
    from wordsight.perception import load_detector

    name = secrets.token_hex(6)
    place = folder / _FOLDER / name
    try:
        kept = keep_file(model, place / "model", (".onnx",), "network")
        if labels is not None:
            keep_file(labels, place / "labels", (".txt", ".json", ".names"), "list of classes")
        load_detector("onnx", **_given(place))
    except BaseException as error:
        shutil.rmtree(place, ignore_errors=True)
        if isinstance(error, WordsightError):
            raise WordsightError(str(error).replace(str(place), "").lstrip("/")) from None
        raise
    network = Network(name, kept.name)
    write_text(place / _NOTE, json.dumps(vars(network)))
    return network


def list_networks(folder: Path) -> list[Network]:
    """Return the networks that were sent."""
    notes = sorted((folder / _FOLDER).glob(f"*/{_NOTE}"))
    return [Network(**json.loads(note.read_text(encoding="utf-8"))) for note in notes]


def parse_settings(settings: Sequence[str]) -> dict[str, Any]:
    """Read options of a detector, such as ``confidence=0.4``.

    Raises:
        WordsightError: If one is written otherwise, or names a file.
    """
    found: dict[str, Any] = {}
    for setting in settings:
        name, _, value = (part.strip() for part in setting.partition("="))
        name = name.replace("-", "_")
        if not _PLAIN.fullmatch(name) or not _PLAIN.fullmatch(value) or name in _FILES:
            raise WordsightError(
                f"options are written as NAME=VALUE with a number or a word, got {setting!r}."
            )
        try:
            found[name] = json.loads(value)
        except json.JSONDecodeError:
            found[name] = value
    if "memory" in found and not _is_within(found["memory"]):
        raise WordsightError(
            f"memory must be a number of gigabytes above 0 and at most {_MOST_MEMORY:g}, "
            f"got {found['memory']!r}."
        )
    return found


def _is_within(memory: Any) -> bool:
    # Without a limit a network would run in the job itself; `True` is a number in Python.
    return type(memory) in (int, float) and 0 < memory <= _MOST_MEMORY


def detector_options(folder: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Gather the options of a detector.

    Args:
        folder: The studio's folder.
        asked: ``detector``; ``network``, the name of one that was sent; ``settings``.

    Raises:
        WordsightError: If the detector needs a network that is not there.
    """
    options = parse_settings(asked.get("settings") or ())
    if "onnx" not in str(asked.get("detector")).split(","):
        return options
    place = folder / _FOLDER / Path(asked.get("network") or "-").name
    if not place.is_dir():
        raise WordsightError("choose a network for the onnx detector, or send one.")
    return options | _given(place)


def _given(place: Path) -> dict[str, Any]:
    files = {name: next(iter(sorted(place.glob(f"{name}/*"))), None) for name in _FILES}
    return {name: str(path) for name, path in files.items() if path is not None}
