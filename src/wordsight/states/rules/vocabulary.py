"""The vocabulary of rules: predicates of the state, features of the tracks, kinds of objects.

A :class:`StateVocabulary` declares the arguments of each predicate and how features are computed.
Users extend it in a text file that :func:`parse_vocabulary` reads::

    # who can hold what
    predicate attached(hand, thing)
    predicate grounded(thing)
    feature lift(thing) = change of elevation over 0.5 s
    feature calm(thing) = mean of speed over 1 s
    feature nearest(thing) = least of distance
    feature width(thing)
    feature opening(thing) = change of width over 0.2 s
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from wordsight.errors import StateError

__all__ = [
    "ANY_KIND",
    "BUILT_IN",
    "FURTHER",
    "ObjectFeature",
    "Predicate",
    "Recipe",
    "StateVocabulary",
]
__all__ += ["parse_vocabulary"]

ANY_KIND = "thing"
"""The kind of every object."""

_OPERATIONS = ("mean", "change", "coming change", "rank", "least", "greatest")


@dataclass(frozen=True)
class Predicate:
    """A predicate of the state.

    Attributes:
        name: As written in rules and facts.
        types: Required kind of each argument; :data:`ANY_KIND` for any.
    """

    name: str
    types: tuple[str, ...]

    @property
    def arity(self) -> int:
        """Number of arguments."""
        return len(self.types)


@dataclass(frozen=True)
class Recipe:
    """How a declared feature is computed from another one.

    Attributes:
        operation: ``mean``, ``change`` (since), ``coming change`` (until), all three over a time
            span; ``rank`` among its kind (how many are greater); ``least`` or ``greatest`` over
            the second argument of a pair feature.
        source: Name of the feature it is computed from.
        seconds: The time span, 0 for operations without one.
    """

    operation: str
    source: str
    seconds: float = 0.0


@dataclass(frozen=True)
class ObjectFeature:
    """A measurement of one object or of an ordered pair, at every frame.

    Attributes:
        name: As written in rules.
        types: Required kind of each argument.
        causal: Whether its value does not depend on later frames.
        recipe: How it is computed from another feature; ``None`` for built-in features.
        meaning: Short description with the unit.
    """

    name: str
    types: tuple[str, ...]
    causal: bool = True
    recipe: Recipe | None = None
    meaning: str = ""

    @property
    def arity(self) -> int:
        """Number of arguments, one or two."""
        return len(self.types)


def _built_in(arity: int, causal: bool, **meanings: str) -> tuple[ObjectFeature, ...]:
    types = (ANY_KIND,) * arity
    return tuple(ObjectFeature(name, types, causal, None, text) for name, text in meanings.items())


BUILT_IN = (
    *_built_in(
        1,
        True,
        direction="where it heads, degrees, 0 to the right, 90 up; none at rest",
        speed="pixels per second",
        elevation="height of its lower edge above the lowest of all, or the table, pixels",
        morph="change of area, shares per second",
        dash="way from where it was a third of a second ago, pixels",
        travel="way from where it was a second ago, pixels",
        still="seconds since it last moved, or was first seen; at most 30",
        away="way from where it first rested, pixels",
        above="height above where it first rested, pixels",
        speed_rank="how many of its kind are faster",
        travel_rank="how many of its kind travelled more in the last second",
    ),
    *_built_in(
        1,
        False,
        dash_next="way to where it will be in a third of a second, pixels",
        travel_next="way to where it will be in a second, pixels",
        travel_both="way from a second ago to a second from now, pixels",
        still_next="seconds until it moves next, or is seen last; at most 30",
        away_last="way to where it rests last, pixels",
        above_last="height above where it rests last, pixels",
        travel_next_rank="how many of its kind will travel more in the coming second",
    ),
    *_built_in(
        2,
        True,
        distance="gap between the two, pixels, 0 where they touch",
        distance_change="pixels per second, negative while they near",
        compass="direction from the first to the second, degrees, 90 up",
        angle="difference of their directions, degrees from 0 to 180",
        overlap="shared area, as a share of the smaller",
        vertical_gap="from the first's lower edge down to the second's upper edge, pixels",
        relative_speed="pixels per second",
        drift="how differently the two travelled in the last second, pixels",
        distance_rank="how many of the second's kind are nearer to the first",
    ),
    *_built_in(
        2,
        False,
        drift_next="how differently the two will travel in the coming second, pixels",
    ),
)
"""The features of the paper, and others that are useful on real tracks."""

FURTHER = _built_in(
    1,
    True,
    width="of its box, pixels; of a hand, how far it is open",
    height="of its box, pixels",
)
"""Measured only if declared: ``feature width(thing)``."""

Named = TypeVar("Named", Predicate, ObjectFeature)


@dataclass(frozen=True)
class StateVocabulary:
    """Predicates and features that rules may use.

    Attributes:
        predicates: Predicates of the state.
        features: Features of the tracks; all names are unique.
    """

    predicates: tuple[Predicate, ...] = ()
    features: tuple[ObjectFeature, ...] = field(default=BUILT_IN)

    def __post_init__(self) -> None:
        names = [item.name for item in self.predicates] + [item.name for item in self.features]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise StateError(f"{twice[0]!r} is declared twice; give each a name of its own.")

    def predicate(self, name: str) -> Predicate:
        """Return a predicate by name."""
        return _found(name, self.predicates, "predicate")

    def feature(self, name: str) -> ObjectFeature:
        """Return a feature by name."""
        return _found(name, self.features, "feature")

    def with_predicates(self, predicates: Iterable[Predicate]) -> "StateVocabulary":
        """Return a vocabulary with predicates added; existing ones stay unchanged."""
        known = {item.name for item in self.predicates}
        more = tuple(item for item in predicates if item.name not in known)
        return StateVocabulary(self.predicates + more, self.features)

    def causal(self) -> "StateVocabulary":
        """Return the vocabulary without features that depend on later frames."""
        return StateVocabulary(self.predicates, tuple(f for f in self.features if f.causal))


def _found(name: str, items: tuple[Named, ...], what: str) -> Named:
    for item in items:
        if item.name == name:
            return item
    known = ", ".join(item.name for item in items) or "none"
    raise StateError(f"unknown {what} {name!r}; known: {known}. Declare it in the vocabulary.")


_NAME = r"[a-z][A-Za-z0-9_]*"
_DECLARATION = re.compile(rf"(predicate|feature)\s+({_NAME})\s*\(([^()]*)\)\s*(?:=\s*(.+))?")
_RECIPE = re.compile(
    rf"(coming change|mean|change|rank|least|greatest) of ({_NAME})"
    r"(?: over ([0-9]{1,6}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}) s)?"
)


def parse_vocabulary(text: str, base: StateVocabulary | None = None) -> StateVocabulary:
    """Parse declarations and add them to a vocabulary.

    Args:
        text: One declaration per line; ``#`` starts a comment.
        base: Vocabulary to extend; by default the built-in features.

    Raises:
        StateError: If a line is not a declaration; the message names the line.
    """
    vocabulary = base or StateVocabulary()
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.split("#")[0].strip()
        if not content:
            continue
        try:
            vocabulary = _extended(vocabulary, content)
        except StateError as error:
            raise StateError(f"line {number}: {error}") from None
    return vocabulary


def _extended(vocabulary: StateVocabulary, content: str) -> StateVocabulary:
    found = _DECLARATION.fullmatch(content)
    if found is None:
        raise StateError(
            f"expected 'predicate name(kind, ...)' or 'feature name(kind) = mean of speed over 1 "
            f"s', got {content!r}."
        )
    what, name, arguments, definition = found.groups()
    types = tuple(part.strip() for part in arguments.split(",")) if arguments.strip() else ()
    if not all(re.fullmatch(_NAME, kind) for kind in types):
        raise StateError(f"kinds must be plain lower-case words, got ({arguments}).")
    if what == "predicate":
        if definition:
            raise StateError(f"a predicate has no definition, got {name} = {definition!r}.")
        return StateVocabulary(
            (*vocabulary.predicates, Predicate(name, types)), vocabulary.features
        )
    feature = _derived(vocabulary, name, types, definition or "")
    return StateVocabulary(vocabulary.predicates, (*vocabulary.features, feature))


def _derived(
    vocabulary: StateVocabulary, name: str, types: tuple[str, ...], definition: str
) -> ObjectFeature:
    for further in FURTHER:
        if further.name == name and not definition and len(types) == further.arity:
            return replace(further, types=types)
    found = _RECIPE.fullmatch(definition.strip())
    if found is None:
        raise StateError(
            f"the feature {name} needs a definition such as 'change of elevation over 0.5 s' or "
            f"'least of distance' (known: {', '.join(_OPERATIONS)}), got {definition!r}; only "
            f"{' and '.join(f.name for f in FURTHER)} are declared without one."
        )
    operation, source_name, seconds = found.groups()
    source = vocabulary.feature(source_name)
    spans = operation in ("mean", "change", "coming change")
    if spans != (seconds is not None):
        raise StateError(f"{operation!r} {'needs' if spans else 'has no'} 'over ... s'.")
    if operation in ("least", "greatest", "rank") and source.arity != (operation != "rank") + 1:
        raise StateError(f"{operation!r} cannot be applied to {source_name}/{source.arity}.")
    if len(types) != (1 if operation in ("least", "greatest") else source.arity):
        raise StateError(f"{name} has {len(types)} arguments, which {operation!r} does not have.")
    causal = source.causal and operation not in ("mean", "coming change")
    recipe = Recipe(operation, source_name, float(seconds or 0.0))
    return ObjectFeature(name, types, causal, recipe, definition.strip())
