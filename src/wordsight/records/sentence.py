"""`Sentence`: a text, and the words in it bound to the participants they speak of."""

from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

from wordsight.errors import RecordError
from wordsight.records.arrays import load_npz, save_npz

__all__ = ["Sentence", "Word"]

_LAYOUT_VERSION = 1


@dataclass(frozen=True)
class Word:
    """One lexicon entry with its arguments, such as ``picked-up(p0, p1)``.

    Attributes:
        entry: The entry's name in the lexicon.
        participants: Which participants fill its roles, by number, in the order of its roles.
    """

    entry: str
    participants: tuple[int, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "participants", tuple(int(p) for p in self.participants))
        if not self.entry:
            raise RecordError("a word needs the name of its lexicon entry, got an empty text.")
        if not self.participants or min(self.participants) < 0:
            raise RecordError(
                f"{self.entry} needs participants numbered from 0, got {self.participants}."
            )

    def __str__(self) -> str:
        return f"{self.entry}({','.join(f'p{p}' for p in self.participants)})"


@dataclass(frozen=True)
class Sentence:
    """What a person wrote, and its words over shared participants.

    Attributes:
        text: The sentence as written.
        words: Its content words in order; empty if it has not been parsed.

    Examples:
        >>> Sentence("The person picked up the backpack.",
        ...          (Word("person", (0,)), Word("picked-up", (0, 1)), Word("backpack", (1,)))
        ...          ).meaning
        'person(p0) picked-up(p0,p1) backpack(p1)'
    """

    text: str
    words: tuple[Word, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", str(self.text))
        object.__setattr__(self, "words", tuple(self.words))
        used = {p for word in self.words for p in word.participants}
        if used != set(range(len(used))):
            raise RecordError(
                f"participants must be numbered 0, 1, 2, ... without a gap, got {sorted(used)} in "
                f"{self.text!r}."
            )

    @property
    def num_participants(self) -> int:
        """How many different things the sentence speaks of."""
        return len({p for word in self.words for p in word.participants})

    @property
    def meaning(self) -> str:
        """The words with their participants, ``person(p0) picked-up(p0,p1) backpack(p1)``."""
        return " ".join(str(word) for word in self.words)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the sentence atomically to an ``.npz`` file without pickle."""
        words = [[word.entry, list(word.participants)] for word in self.words]
        save_npz(path, "Sentence", _LAYOUT_VERSION, {}, {"text": self.text, "words": words})

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Self:
        """Read a sentence that :meth:`save` wrote; the result equals the original."""
        values: dict[str, Any] = load_npz(path, "Sentence", _LAYOUT_VERSION)[1]
        words = (Word(entry, tuple(participants)) for entry, participants in values["words"])
        return cls(values["text"], tuple(words))

    def __str__(self) -> str:
        return self.text
