"""What the studio is told when it starts."""

import ipaddress
import secrets
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["StudioSettings", "is_loopback"]


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
            somebody waits for each.
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
        host = f"[{self.host}]" if ":" in self.host else self.host
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
