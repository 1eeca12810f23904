"""`Protocol`: a procedure in steps of sentences, and the order in which people carry it out."""

from collections.abc import Mapping
from dataclasses import dataclass

from wordsight.worlds.checks import Rng
from wordsight.worlds.workbench.things import THINGS

__all__ = ["Protocol", "ProtocolSentence", "Step", "StepOrder", "choose_order"]


@dataclass(frozen=True)
class ProtocolSentence:
    """One sentence of a step."""

    text: str
    deed: str  # name of what is done
    things: Mapping[str, str]  # names of the things it is done with, by the deed's arguments

    def named(self) -> tuple[str, ...]:
        """Return the things of the bench that the text names, in the order of the registry."""
        words = self.text.lower().replace(",", " ").replace(".", " ")
        return tuple(name for name in THINGS if f" {THINGS[name].phrase} " in f" {words} ")


@dataclass(frozen=True)
class Step:
    """A numbered step."""

    kind: str  # name of the kind of step it was made from
    sentences: tuple[ProtocolSentence, ...]  # one to four; the first stands beside the number


@dataclass(frozen=True)
class Protocol:
    """A whole procedure."""

    title: str  # what is made
    steps: tuple[Step, ...]
    things: tuple[str, ...]  # names of the things it needs

    @property
    def sentences(self) -> tuple[ProtocolSentence, ...]:
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


@dataclass(frozen=True)
class StepOrder:
    """The steps as they are done; all numbers count steps from 0."""

    steps: tuple[int, ...]
    skipped: tuple[int, ...] = ()
    repeated: tuple[int, ...] = ()  # done twice in a row
    swapped: tuple[tuple[int, int], ...] = ()  # neighbours that change places


def choose_order(num_steps: int, skip: float, repeat: float, swap: float, rng: Rng) -> StepOrder:
    """Draw an order in which each step is left out or done twice with some probability.

    Neighbours change places with the probability ``swap``, but no step moves twice; one step is
    always done.
    """
    draws = rng.random((3, num_steps))
    skipped = [k for k in range(num_steps) if draws[0, k] < skip]
    if len(skipped) == num_steps:
        skipped.pop(int(draws[0].argmax()))
    kept = [k for k in range(num_steps) if k not in skipped]
    swapped: list[tuple[int, int]] = []
    for k in range(len(kept) - 1):
        moved_already = bool(swapped) and swapped[-1][1] == kept[k]
        if draws[2, kept[k]] < swap and not moved_already:
            swapped.append((kept[k], kept[k + 1]))
    order = list(kept)
    for one, other in swapped:
        at = order.index(one)
        order[at : at + 2] = [other, one]
    repeated = tuple(k for k in kept if draws[1, k] < repeat)
    steps = tuple(k for step in order for k in ([step] * (2 if step in repeated else 1)))
    return StepOrder(steps, tuple(skipped), repeated, tuple(swapped))
