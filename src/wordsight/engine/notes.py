"""How running work tells how far it has come, wherever it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

__all__ = ["listening", "tell"]

_listener: ContextVar[Callable[[Any], None] | None] = ContextVar("_listener", default=None)


def tell(note: Any) -> None:
    """Tell whoever started this work something small that pickles; without a listener, nothing.

    To be called from the thread the function was called in.
    """
    listener = _listener.get()
    if listener is not None:
        listener(note)


@contextmanager
def listening(listener: Callable[[Any], None]) -> Iterator[None]:
    """Send what :func:`tell` is told inside the block to ``listener``."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
