"""How wrong a sentence is: the fewest words that must be replaced to make it true of a film."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product

from wordsight.language import PartOfSpeech, default_lexicon
from wordsight.records import Sentence, Word
from wordsight.worlds.street import StreetFilm

__all__ = ["PARTS", "repairs"]

PARTS = ("noun", "verb", "preposition", "adverb")

_KINDS = {
    PartOfSpeech.NOUN: "noun",
    PartOfSpeech.VERB: "verb",
    PartOfSpeech.SPATIAL_PREPOSITION: "preposition",
    PartOfSpeech.MOTION_PREPOSITION: "preposition",
    PartOfSpeech.ADVERB: "adverb",
}


def repairs(film: StreetFilm, sentence: Sentence) -> dict[str, int]:
    """Count the words to replace by others of their kind, fewest first.

    Args:
        film: Its truth judges.
        sentence: What was said of it.

    Returns:
        Per part of speech how many; all words where nothing of that form is true.
    """
    parts = {entry.name: _KINDS[entry.part] for entry in default_lexicon()}
    words = sentence.words
    for count in range(len(words) + 1):
        for places in combinations(range(len(words)), count):
            if any(film.truth.holds(other) for other in _replaced(sentence, places)):
                return _counted([parts[words[place].entry] for place in places])
    return _counted([parts[word.entry] for word in words])


def _counted(kinds: list[str]) -> dict[str, int]:
    return {part: kinds.count(part) for part in PARTS}


def _replaced(sentence: Sentence, places: tuple[int, ...]) -> Iterator[Sentence]:
    lexicon = default_lexicon()
    options = []
    for place in places:
        word = sentence.words[place]
        part, arity = lexicon[word.entry].part, len(word.participants)
        others = [e.name for e in lexicon.of_part(part, arity) if e.name != word.entry]
        options.append([Word(name, word.participants) for name in others])
    for chosen in product(*options):
        words = list(sentence.words)
        for place, word in zip(places, chosen, strict=True):
            words[place] = word
        yield replace(sentence, words=tuple(words))
