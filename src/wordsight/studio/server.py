"""What the server process needs before it starts: a port of its own and few heaps."""

import ctypes
import socket
import sys

from wordsight.errors import WordsightError

__all__ = ["share_heaps", "take_port"]


def take_port(host: str, port: int) -> socket.socket:
    """Listen at an address; whoever comes is kept waiting until a server takes the socket over.

    Args:
        host: Name or address.
        port: The port; 0 for any that is free.

    Returns:
        The socket.

    Raises:
        WordsightError: If the port is somebody else's, or the host is not this machine.
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
