"""Where the studio listens, what its process needs before it starts, and what it begins with."""

import ctypes
import gc
import ipaddress
import re
import secrets
import socket
import sys
from dataclasses import dataclass, field
from pathlib import Path

from wordsight.errors import WordsightError
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.teach import DEFAULT_TAUGHT

__all__ = [
    "StudioSettings",
    "is_loopback",
    "keep_for_good",
    "share_heaps",
    "take_port",
    "take_taught",
    "without_paths",
]


@dataclass(frozen=True)
class StudioSettings:
    """Where the studio finds things, and what it lets in.

    Attributes:
        library: The library to open: a folder or the address of a database.
        folder: Where jobs, uploads and models made in the studio are kept; ``studio`` in the
            library's folder if left out.
        host: Address to listen at.
        port: Port to listen at.
        token: Who does not know it stays out; made up where the address is not loopback.
        max_upload: Bytes of the largest file taken in.
        max_body: Bytes of the largest other request.
        jobs_at_once: How many jobs run side by side, of those that may take hours and of those that
            a user waits for each.
    """

    library: str
    folder: Path | None = None
    host: str = "127.0.0.1"
    port: int = 8321
    token: str | None = field(default=None, repr=False)
    max_upload: int = 8 << 30
    max_body: int = 1 << 20
    jobs_at_once: int = 1

    def __post_init__(self) -> None:
        if self.token is None and not is_loopback(self.host):
            object.__setattr__(self, "token", secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address to open in a browser, with the token where one is needed."""
        name = _outer_address(self.host)
        host = f"[{name}]" if ":" in name else name
        asked = f"?token={self.token}" if self.token else ""
        return f"http://{host}:{self.port}/{asked}"


def is_loopback(host: str) -> bool:
    """Tell whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _outer_address(host: str) -> str:
    """Return an address that others can open: of all addresses the one this machine sends from."""
    try:
        if not ipaddress.ip_address(host.strip("[]")).is_unspecified:
            return host
    except ValueError:
        return host
    six = ":" in host
    with socket.socket(socket.AF_INET6 if six else socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:  # nothing is sent: the system only chooses a route to an address for documentation
            probe.connect(("2001:db8::1" if six else "192.0.2.1", 9))
            return str(probe.getsockname()[0])
        except OSError:  # no network: then only this machine can open it
            return "::1" if six else "127.0.0.1"


_PATH = re.compile(r"(?<![\w.:/<])/(?!api/)(?:[^\s/:;,'\"()]+/)+([^\s/:;,'\"()]*)")


def without_paths(text: str) -> str:
    """Return a message with only the last part of every absolute path in it.

    Where files are on the machine of the studio is not for those who open it from elsewhere.

    Examples:
        >>> without_paths("cannot read /home/ann/library/a.mp4: no such file")
        'cannot read a.mp4: no such file'
    """
    return _PATH.sub(r"\1", text)


def take_port(host: str, port: int) -> socket.socket:
    """Listen at an address; connections wait until a server takes the socket over.

    Args:
        host: Name or address.
        port: The port; 0 for any that is free.

    Returns:
        The socket.

    Raises:
        WordsightError: If the port is taken, or the host is not this machine.
    """
    made = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if port:
            # One that is started again must not wait until connections of the last one are gone.
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host.strip("[]"), port))
        made.listen()
    except OSError as error:
        made.close()
        where = f"{host}:{port}" if port else host
        raise WordsightError(
            f"the studio cannot listen at {where}: {error.strerror or error}. Is another one open "
            "there? Name another --port (0 for any that is free) or --host."
        ) from error
    return made


_ARENA_MAX = -8  # M_ARENA_MAX of glibc's mallopt

_HEAPS = 2


def share_heaps() -> bool:
    """Let all threads of this process share two heaps, so that memory stays flat for months.

    The C library gives each thread a heap of its own, up to eight per core, and every heap keeps
    the most it ever needed.

    Returns:
        Whether the C library could do so.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        change = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):  # another C library
        return False
    return bool(change(_ARENA_MAX, _HEAPS) == 1)


def keep_for_good() -> None:
    """Tell the interpreter that all it has loaded by now stays until it ends.

    Otherwise it looks through all of it again after every few hundred requests, for a fifth of a
    second in which no page is answered.
    """
    gc.collect()
    gc.freeze()


def take_taught(reporter: Reporter, library: str, taught: Path = DEFAULT_TAUGHT) -> None:
    """Let a studio that was taught nothing yet begin with the words of `wordsight teach`.

    Args:
        reporter: Takes what is done, and what cannot be.
        library: The studio's library; made if it is not there.
        taught: The taught words.
    """
    from wordsight.library import Library
    from wordsight.studio.jobs.attributes import LESSONS, TAUGHT, begin_with
    from wordsight.workflows.teach import load_taught

    with Library.open(library, create=True) as opened:
        folder = opened.folder / "studio"
    if not taught.exists() or (folder / TAUGHT).exists() or (folder / LESSONS).exists():
        return
    try:
        begin_with(load_taught(taught), folder)
    except WordsightError as error:
        reporter.warn(
            f"the studio begins without taught words: {error}"
        )  # it can be taught its own
    else:
        reporter.note(f"The studio begins with the taught words of {taught}.")
