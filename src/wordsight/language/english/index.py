"""The entries of a lexicon by the base forms of their words, so that any inflection finds them."""

from collections.abc import Iterable, Mapping
from functools import lru_cache

from wordsight.language.english.words import (
    BROADER,
    KINDS,
    PARTICLES,
    PEOPLE_PRONOUNS,
    base_form,
    forms_of,
    is_known,
    kind_of,
    uses_of,
)
from wordsight.language.lexicon import Entry, Lexicon, PartOfSpeech, Pattern
from wordsight.language.tokens import split_words
from wordsight.records import BODY_PARTS

__all__ = ["LexiconIndex", "index_of"]

_TAGS = {
    PartOfSpeech.NOUN: "N",
    PartOfSpeech.ADJECTIVE: "J",
    PartOfSpeech.ADVERB: "A",
    PartOfSpeech.VERB: "V",
}
_KNOWN = 0.6  # how much a use that the lexicon has is cheaper


_SHORT = 4  # letters of pronouns that every short word is similar to


class LexiconIndex:
    """Entries by base forms.

    Attributes:
        lexicon: The lexicon.
        phrases: Nouns and adverbs of several words, as they are written.
        actors: Nouns that name people or their hands, who "someone" may be.
        foreign: Words of verbs and nouns, if most of them are in no English dictionary.
    """

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.verbs: dict[str, list[tuple[Entry, Pattern]]] = {}
        self.actors: list[Entry] = []
        self._nouns: dict[tuple[str, ...], Entry] = {}
        self._simple: dict[tuple[PartOfSpeech, str], Entry] = {}
        self._kinds: dict[str, Entry] = {}
        self._tags: dict[str, set[str]] = {}
        phrases: set[tuple[str, ...]] = set()
        for entry in lexicon:
            for pattern in entry.patterns:
                self._add(entry, pattern, phrases)
        self.phrases = frozenset(phrases)
        words = [*self.verbs, *(noun for (*_, noun) in self._nouns)]
        new = frozenset(word for word in words if not any(is_known(word, tag) for tag in "NVJA"))
        self.foreign = new if 2 * len(new) > len(words) else frozenset()

    def _add(self, entry: Entry, pattern: Pattern, phrases: set[tuple[str, ...]]) -> None:
        words = tuple(word for word in pattern if word is not None)
        if entry.part is PartOfSpeech.VERB:
            base = base_form(words[0], "V")
            self.verbs.setdefault(base, []).append((entry, pattern))
            self._tags.setdefault(base, set()).add("V")
            return
        if entry.part is PartOfSpeech.NOUN:
            key = noun_key(words)
            self._nouns.setdefault(key, entry)
            kind = kind_of(key[-1])
            if (kind == "person" or key[-1] in BODY_PARTS) and entry not in self.actors:
                self.actors.append(entry)
            if kind is not None and (kind not in self._kinds or entry.name == kind):
                self._kinds[kind] = entry
        self._simple.setdefault((entry.part, " ".join(words)), entry)
        if len(words) > 1 and not entry.part.takes_slots:
            phrases |= {words, (*words[:-1], f"{words[-1]}s")}
        elif entry.part in _TAGS:
            self._tags.setdefault(base_form(words[-1], _TAGS[entry.part]), set()).add(
                _TAGS[entry.part]
            )

    def noun(self, words: Iterable[str], *, synonyms: bool = True) -> tuple[Entry | None, int]:
        """Return the entry of the longest noun that ends a run of words, and its length in words.

        A noun that the lexicon lacks is taken for another name of its kind or, with ``synonyms``,
        for one that is more general ("fruit" for "apple") or more special.
        """
        run = split_words(" ".join(words))
        for start in range(len(run)):
            entry = self._nouns.get(noun_key(run[start:]))
            if entry is not None:
                return entry, len(run) - start
        last = noun_key(run)[-1] if run else ""
        kind = kind_of(last)
        entry = None if kind is None else self._kinds.get(kind)
        if entry is None and synonyms:
            related = [BROADER.get(last), *(n for n, broader in BROADER.items() if broader == last)]
            found = (self._nouns.get((noun,)) for noun in related if noun is not None)
            entry = next((one for one in found if one is not None), None)
        return entry, 0 if entry is None else 1

    def of_kind(self, kind: str) -> Entry | None:
        """Return a noun of a kind such as ``person``."""
        return self._kinds.get(kind)

    def simple(self, part: PartOfSpeech, text: str) -> Entry | None:
        """Return the entry of a part of speech that is spelled so."""
        return self._simple.get((part, text.replace("-", " ")))

    def uses(self, word: str) -> Mapping[str, float]:
        """Return the possible uses of a word; those that the lexicon has are cheaper."""
        if " " in word:
            known = any((part, word) in self._simple for part in _TAGS) or self._is_noun(word)
            if known:
                noun = self._is_noun(word)
                return {"N" if noun else "A": -1.0, "U": 4.0}
        uses = dict(uses_of(word))
        for tag in "NVJA":
            if tag in self._tags.get(base_form(word, tag), ()):
                uses[tag] = min(uses.get(tag, 0.0), 0.0) - _KNOWN
        return uses

    def _is_noun(self, word: str) -> bool:
        return noun_key(tuple(word.split())) in self._nouns

    def spellings(self) -> set[str]:
        """Return all forms of the words that it has, and names of the kinds it has."""
        named = {noun for kind in self._kinds for noun in KINDS[kind]}
        written = {
            word
            for entry in self.lexicon
            for pattern in entry.patterns
            for word in pattern
            if word is not None and (word in PARTICLES or set(uses_of(word)) & set("NVJA"))
        }
        named |= {pronoun for pronoun in PEOPLE_PRONOUNS if len(pronoun) > _SHORT}
        return named | written | {form for verb in self.verbs for form in forms_of(verb)}


def noun_key(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a noun with the last in its base form."""
    return (*words[:-1], base_form(words[-1], "N"))


@lru_cache(maxsize=16)
def index_of(lexicon: Lexicon) -> LexiconIndex:
    """Return the index of a lexicon; recent ones are kept."""
    return LexiconIndex(lexicon)
