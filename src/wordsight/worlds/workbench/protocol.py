"""`Protocol`: a procedure in steps of sentences, and the deeds that carry each sentence out."""

from collections.abc import Mapping
from dataclasses import dataclass

from wordsight.worlds.workbench.things import THINGS

__all__ = ["Protocol", "Sentence", "Step"]


@dataclass(frozen=True)
class Sentence:
    """One sentence of a step.

    Attributes:
        text: What is written.
        deed: Name of what is done.
        things: Names of the things it is done with, by the deed's arguments.
    """

    text: str
    deed: str
    things: Mapping[str, str]

    def named(self) -> tuple[str, ...]:
        """Return the things of the bench that the text names, in the order of the registry."""
        words = self.text.lower().replace(",", " ").replace(".", " ")
        return tuple(name for name in THINGS if f" {THINGS[name].phrase} " in f" {words} ")


@dataclass(frozen=True)
class Step:
    """A numbered step.

    Attributes:
        kind: Name of the kind of step it was made from.
        sentences: One to four; the first one stands beside the number.
    """

    kind: str
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True)
class Protocol:
    """A whole procedure.

    Attributes:
        title: What is made.
        steps: What to do, in order.
        things: Names of the things it needs.
    """

    title: str
    steps: tuple[Step, ...]
    things: tuple[str, ...]

    @property
    def sentences(self) -> tuple[Sentence, ...]:
        """All sentences in order."""
        return tuple(sentence for step in self.steps for sentence in step.sentences)

    def text(self) -> str:
        """Return the text as people write it: numbered steps, further sentences indented."""
        lines = []
        for number, step in enumerate(self.steps, start=1):
            first, *rest = step.sentences
            lines.append(f"Step {number} {first.text}")
            lines += [f"    {sentence.text}" for sentence in rest]
            lines.append("")
        return "\n".join(lines)
