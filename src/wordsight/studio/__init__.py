"""The studio: a library in the browser, over the same functions the command line calls."""

from wordsight.studio.app import create_app
from wordsight.studio.settings import StudioSettings

__all__ = ["StudioSettings", "create_app"]
