"""What a learner answers."""

from dataclasses import dataclass

__all__ = ["NO_WORD", "LearnedWord", "NamedAttribute", "Naming"]

NO_WORD = "(no word for this)"
"""What stands in a text for an attribute none of whose words fits."""


@dataclass(frozen=True)
class LearnedWord:
    """A word that was learned.

    Attributes:
        name: Its spelling, or a made-up name such as ``word-3`` where it was only heard.
        attribute: Which attribute it names, from 0 on.
        count: How often it was taught.
        spelled: Whether the name is a spelling that was taught.
        example: The lesson that stands for it: the recording most like all others.
    """

    name: str
    attribute: int
    count: int
    spelled: bool
    example: int


@dataclass(frozen=True)
class NamedAttribute:
    """What one attribute of a picture is called.

    Attributes:
        attribute: Which attribute, from 0 on.
        word: The word that fits best.
        confidence: Probability that it is the right one of this attribute's words.
        known: False where the picture is unlike everything the attribute's words were said of.
        lesson: The lesson whose recording is the spoken answer.
        others: Further words of the attribute with their probabilities, the likeliest first.
    """

    attribute: int
    word: str
    confidence: float
    known: bool
    lesson: int
    others: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Naming:
    """All words for a picture, one for each attribute.

    Attributes:
        attributes: One answer per attribute.
    """

    attributes: tuple[NamedAttribute, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The words that are known to fit."""
        return tuple(answer.word for answer in self.attributes if answer.known)

    @property
    def text(self) -> str:
        """The words in a row; says where there is none."""
        return " ".join(a.word if a.known else NO_WORD for a in self.attributes)
