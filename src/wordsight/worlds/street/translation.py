"""Sentences of the street in German and Spanish."""

from collections.abc import Callable, Sequence

from wordsight.language import default_lexicon, parse
from wordsight.records import Word
from wordsight.worlds.checks import WorldError
from wordsight.worlds.street.words import STATIC_RELATIONS, VERBS

__all__ = ["LANGUAGES", "translated"]

LANGUAGES = ("english", "german", "spanish")

_GERMAN_NOUNS = {
    "person": "Person",
    "backpack": "Rucksack",
    "trash-can": "Mülleimer",
    "chair": "Stuhl",
    "traffic-cone": "Verkehrskegel",
    "stool": "Hocker",
}
_GERMAN_ARTICLES = {"subject": "der", "object": "den", "dative": "dem", "genitive": "des"}
_SPANISH_NOUNS = {
    "person": "la persona",
    "backpack": "la mochila",
    "trash-can": "el basurero",
    "chair": "la silla",
    "traffic-cone": "el cono",
    "stool": "el taburete",
}
# Words before the adverb, between adverb and object, the object's case, and the particle.
_GERMAN_VERBS = {
    "picked-up": ("hob", "", "object", "auf"),
    "put-down": ("stellte", "", "object", "ab"),
    "carried": ("trug", "", "object", ""),
    "approached": ("näherte sich", "", "dative", ""),
}
_SPANISH_VERBS = {
    "picked-up": ("recogió", "", "object", ""),
    "put-down": ("dejó", "", "object", ""),
    "carried": ("llevó", "", "object", ""),
    "approached": ("se acercó", "a", "object", ""),
}
_GERMAN_MANNERS = {"quickly": "schnell", "slowly": "langsam"}
_SPANISH_MANNERS = {"quickly": "rápidamente", "slowly": "lentamente"}
_GERMAN_RELATIONS = {
    "to-the-left-of": ("links von", "dative"),
    "to-the-right-of": ("rechts von", "dative"),
    "towards": ("in Richtung", "genitive"),
    "away-from": ("weg von", "dative"),
}
_SPANISH_RELATIONS = {
    "to-the-left-of": ("a la izquierda de", "object"),
    "to-the-right-of": ("a la derecha de", "object"),
    "towards": ("hacia", "object"),
    "away-from": ("lejos de", "object"),
}


def translated(text: str, language: str) -> str:
    """Return a sentence of the street in another language.

    Args:
        text: An English sentence of its grammar.
        language: One of :data:`LANGUAGES`.

    Raises:
        WorldError: If the language is another.
    """
    if language == "english":
        return text
    if language == "german":
        return _sentence(text, _german, _GERMAN_VERBS, _GERMAN_MANNERS, _GERMAN_RELATIONS)
    if language == "spanish":
        said = _sentence(text, _spanish, _SPANISH_VERBS, _SPANISH_MANNERS, _SPANISH_RELATIONS)
        return said.replace(" a el ", " al ").replace(" de el ", " del ")
    raise WorldError(f"the street speaks {', '.join(LANGUAGES)}, not {language!r}.")


def _german(noun: str, case: str) -> str:
    if noun == "person":
        return f"{'der' if case in ('dative', 'genitive') else 'die'} Person"
    ending = "s" if case == "genitive" else ""
    return f"{_GERMAN_ARTICLES[case]} {_GERMAN_NOUNS[noun]}{ending}"


def _spanish(noun: str, case: str) -> str:
    return _SPANISH_NOUNS[noun]


def _sentence(
    text: str,
    name: Callable[[str, str], str],
    verbs: dict[str, tuple[str, str, str, str]],
    manners: dict[str, str],
    relations: dict[str, tuple[str, str]],
) -> str:
    words = parse(text, default_lexicon()).words
    nouns = {word.participants[0]: word.entry for word in words if word.entry in _GERMAN_NOUNS}
    verb = next(word for word in words if word.entry in VERBS)
    said, joint, case, particle = verbs[verb.entry]

    def relation(word: Word) -> str:
        preposition, its_case = relations[word.entry]
        return f"{preposition} {name(nouns[word.participants[1]], its_case)}"

    def phrase(participant: int, its_case: str) -> str:
        where = [
            relation(word)
            for word in words
            if word.entry in STATIC_RELATIONS and word.participants[0] == participant
        ]
        return " ".join([name(nouns[participant], its_case), *where])

    agent, patient = verb.participants
    parts: Sequence[str] = (
        phrase(agent, "subject"),
        said,
        *(manners[word.entry] for word in words if word.entry in manners),
        joint,
        phrase(patient, case),
        *(
            relation(word)
            for word in words
            if word.entry in relations and word.entry not in STATIC_RELATIONS
        ),
        particle,
    )
    joined = " ".join(part for part in parts if part)
    return f"{joined[0].upper()}{joined[1:]}."
