"""Taking a port: before anything else is begun, so that two studios never believe it is theirs."""

import socket

from wordsight.errors import WordsightError

__all__ = ["take_port"]


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
