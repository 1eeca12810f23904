"""The studio: a library in the browser, over the same functions the command line calls."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from wordsight.studio.app import create_app
    from wordsight.studio.server import StudioSettings

__all__ = ["StudioSettings", "create_app"]


def __getattr__(name: str) -> Any:
    # Jobs are processes of this package: they need no web framework.
    homes = {"StudioSettings": "wordsight.studio.server", "create_app": "wordsight.studio.app"}
    if name in homes:
        return getattr(import_module(homes[name]), name)
    raise AttributeError(f"module 'wordsight.studio' has no attribute {name!r}")
