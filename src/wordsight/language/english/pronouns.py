"""What pronouns stand for: the nearest phrase before them that fits."""

from wordsight.language.english.events import Mention, Reading
from wordsight.language.english.words import PEOPLE_PRONOUNS

__all__ = ["resolve_pronouns"]

_PERSONAL = frozenset(
    ["he", "she", "him", "her", "they", "them", "himself", "herself", "themselves"]
)
_THINGS = frozenset(["it", "itself", "they", "them", "this", "that", "these", "those"])
_MEN = frozenset(["man", "boy", "guy", "gentleman"])
_WOMEN = frozenset(["woman", "girl", "lady"])
_NEVER = dict.fromkeys(["he", "him", "himself"], _WOMEN) | dict.fromkeys(
    ["she", "her", "herself"], _MEN
)


def resolve_pronouns(reading: Reading, earlier: list[Mention]) -> None:
    """Bind the pronouns of a reading, and note each as a guess.

    Args:
        reading: The reading; its mentions are changed.
        earlier: Phrases of the captions before it, oldest first; those of the reading are added.
    """
    for _ in range(2):  # again for what a clause that stands first in the text says later
        for event in reading.events:
            own = event.mentions
            for mention in own:
                if mention.pronoun in _PERSONAL | _THINGS:
                    _bind(mention, reading, [m for m in earlier if m not in own])
            named = [m for m in own if m.words or m.pronoun in PEOPLE_PRONOUNS]
            direct = [*event.subjects, *event.objects]
            # What something is done to is meant rather than where: "puts the cup on the table".
            earlier.extend(m for m in named if not any(m is one for one in direct))
            earlier.extend(m for m in named if any(m is one for one in direct))


def _bind(mention: Mention, reading: Reading, earlier: list[Mention]) -> None:
    pronoun = mention.pronoun or ""
    found = next((m for m in reversed(earlier) if _fits(pronoun, m)), None)
    if found is None or not found.words:
        return
    mention.words, mention.pronoun, mention.definite = found.words, None, True
    mention.plural = found.plural
    reading.guesses.append(f"{pronoun} = {' '.join(found.words)}")


def _fits(pronoun: str, mention: Mention) -> bool:
    if pronoun in _PERSONAL and mention.is_person:
        return mention.head not in _NEVER.get(pronoun, ())
    if pronoun in ("they", "them", "these", "those"):
        return bool(mention.words) and (mention.plural or (mention.count or 1) > 1)
    return pronoun in _THINGS and bool(mention.words) and not mention.is_person
