"""Errors of the states package."""

from wordsight.errors import WordsightError, pointing_at

__all__ = ["RuleError", "StateError"]


class StateError(WordsightError, ValueError):
    """Tracks, labels, rules or settings from which no states can be learned or inferred."""


class RuleError(StateError):
    """Rule text that cannot be parsed; the message shows the line and points at the column.

    Attributes:
        line: Number of the line, counted from 1.
        column: Number of the character in it, counted from 1.
    """

    def __init__(self, problem: str, text: str, line: int, column: int):
        self.line, self.column = line, column
        shown = pointing_at(text, column - 1, column)
        super().__init__(f"line {line}, column {column}: {problem}\n{shown}")
