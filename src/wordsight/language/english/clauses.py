"""What a clause leaves out and takes from the one before it, and the order of clauses."""

from wordsight.language.english.events import Event, repeated
from wordsight.language.english.words import base_form, is_continuous

__all__ = ["LINKS", "complete", "give_voice", "in_order", "of_another"]

LINKS = {
    "then": "then",
    "and then": "then",
    "after that": "then",
    ".": "then",
    "before": "before",
} | {
    "after": "after",
    "once": "after",
    "as soon as": "after",
    "when": "while",
    "while": "while",
    "as": "while",
    "before that": "after",
    "until": "before",
    "since": "after",
}
"""How an event follows the one before it, by the word between them; ``and`` otherwise."""


def complete(event: Event, before: Event) -> None:
    """Give a clause without a verb that of the clause before, where it says no more than a way.

    "The hand puts the bottle to the left and the glass to the right", "the ball rolls across the
    grass and into the water".
    """
    if event.verb is not None:
        return
    way = event.directions or (event.obliques and not event.subjects and not event.objects)
    if not way:
        return
    if before.verb is None:
        for about in (before.objects or before.subjects)[-1:]:
            about.relations += [(preposition, m) for preposition, m, _ in event.obliques]
        return
    event.verb, event.particles = before.verb, list(before.particles)
    event.objects = event.subjects
    if before.particles and before.objects and not before.split and not event.subjects:
        event.particles = []  # "down the hill and into the water"
    elif not event.objects:
        event.objects = repeated(before.objects)
    event.subjects = repeated(before.subjects)
    event.obliques = [(p, m, bool(event.objects)) for p, m, _ in event.obliques]


def give_voice(event: Event) -> None:
    """Say a clause in the passive actively."""
    if event.passive or event.is_headline:
        agents = [m for preposition, m, _ in event.obliques if preposition == "by"]
        event.obliques = [(p, m, True) for p, m, _ in event.obliques if p != "by"]
        event.subjects, event.objects = agents, event.subjects + event.objects


_IN_FRONT = frozenset(["kneel", "bow", "stand", "sit", "appear", "lie", "dance", "perform"])
_IN_PURSUIT = frozenset(["run", "look", "go", "chase", "come", "walk", "ask", "take", "call"])


def of_another(event: Event) -> Event | None:
    """Take off "before the man" of "the woman left before the man", as what the man did."""
    verb = base_form(event.verb or "", "V")
    place = {"before": _IN_FRONT, "after": _IN_PURSUIT}
    for oblique in event.obliques:
        preposition, who, _ = oblique
        if preposition in place and who.is_person and verb not in place[preposition]:
            event.obliques.remove(oblique)
            other = Event(event.verb, list(event.particles), [who], repeated(event.objects))
            other.link = preposition
            return other
    return None


def in_order(events: list[Event]) -> list[Event]:
    """Return clauses with the main one first, each with its subject."""
    if len(events) > 1:
        first, second = events[:2]
        if not first.link and _is_accompanying(first) and second.subjects and second.link == "and":
            first.link = "while"  # "Holding a cup, the man walks away"
        if first.link in ("before", "after", "while"):
            # "Before leaving, she closed the door": the main clause comes first.
            events[0], events[1] = second, first
            second.link, first.is_leading = "", True
    if events:
        events[0].link = ""
    before = None
    for event in events:
        main, before = before, before if event.is_leading else event
        if main is None or event.verb is None or event.subjects:
            continue
        event.goes_on = not event.is_leading
        if not event.passive:
            event.subjects = repeated(main.objects if main.passive else main.subjects)
        elif not event.objects and main.passive:
            event.objects = repeated(main.objects)
    return events


def _is_accompanying(event: Event) -> bool:
    return not event.subjects and event.verb is not None and is_continuous(event.verb)
