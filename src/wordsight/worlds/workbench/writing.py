"""Writing a protocol: a beginning, a middle of many kinds of steps, an end."""

from collections.abc import Sequence

import numpy as np

from wordsight.worlds.checks import WorldError
from wordsight.worlds.workbench.protocol import Kind, Protocol, Step, Story
from wordsight.worlds.workbench.steps import KINDS
from wordsight.worlds.workbench.things import THINGS

__all__ = ["kinds_for", "write_protocol"]

_ALWAYS = ("beaker", "flask")
_MOST_BYSTANDERS = 2


def kinds_for(kinds: Sequence[str], objects: Sequence[str]) -> tuple[Kind, ...]:
    """Return the kinds of steps that some objects, with beaker and flask, are enough for.

    Raises:
        WorldError: If none is left for the middle of a protocol.
    """
    there = {*objects, *_ALWAYS}
    possible = tuple(KINDS[name] for name in kinds if set(KINDS[name].needs) <= there)
    if not any(kind.when == "middle" for kind in possible):
        needs = "; ".join(f"{name}: {', '.join(KINDS[name].needs)}" for name in kinds)
        raise WorldError(
            f"no step can be done with {', '.join(sorted(there))}; add objects that one needs "
            f"({needs})."
        )
    return possible


def write_protocol(
    num_steps: int, kinds: Sequence[Kind], objects: Sequence[str], rng: np.random.Generator
) -> Protocol:
    """Write a protocol.

    Args:
        num_steps: How many steps it has.
        kinds: The kinds of steps it may have, at least one for the middle.
        objects: What may stand on the bench besides what the steps need.
        rng: Where the chance comes from.
    """
    story = Story(rng)
    by_time = {
        time: [kind for kind in kinds if kind.when == time] for time in ("first", "middle", "last")
    }
    chosen = [story.choose(by_time["first"] or by_time["middle"])]
    while len(chosen) < num_steps:
        chosen.append(_next_kind(by_time["middle"], chosen[-1], story))
    if num_steps > 1 and by_time["last"]:
        chosen[-1] = story.choose(by_time["last"])
    steps = tuple(Step(kind.name, tuple(kind.write(story))) for kind in chosen)
    return Protocol(story.product, steps, _things_of(steps, objects, rng))


def _next_kind(kinds: Sequence[Kind], former: Kind, story: Story) -> Kind:
    """Choose a kind; the same twice in a row only if there is no other."""
    options = [kind for kind in kinds if kind is not former] or list(kinds)
    weights = np.array([kind.weight for kind in options])
    return options[int(story.rng.choice(len(options), p=weights / weights.sum()))]


def _things_of(
    steps: Sequence[Step], objects: Sequence[str], rng: np.random.Generator
) -> tuple[str, ...]:
    """Return what the steps use, and a few things they do not, in the order of the registry."""
    sentences = [sentence for step in steps for sentence in step.sentences]
    used = {thing for sentence in sentences for thing in sentence.things.values()}
    used |= {name for sentence in sentences for name in sentence.named()}
    used |= set(_ALWAYS)
    if "tube" in used:
        used.add("rack")
    spare = [name for name in THINGS if name in objects and name not in {*used, "tube"}]
    count = int(rng.integers(0, _MOST_BYSTANDERS + 1))
    used |= {str(name) for name in rng.permutation(spare)[:count]}
    return tuple(name for name in THINGS if name in used)
