"""The error people see when a world cannot be made as asked."""

from wordsight.errors import WordsightError

__all__ = ["WorldError"]


class WorldError(WordsightError, ValueError):
    """A world that cannot be made or asked about like this: unknown names, no clips, no room."""
