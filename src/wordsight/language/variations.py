"""Sentences that are almost another one: one word replaced, roles swapped, another verb.

They are the false sentences that discriminative training and forced choice need.
"""

from collections.abc import Collection, Iterator

from wordsight.language.errors import LanguageError
from wordsight.language.lexicon import Lexicon, PartOfSpeech
from wordsight.language.lexicon_file import default_lexicon
from wordsight.language.realisation import sentence_of
from wordsight.records import Sentence, Word

__all__ = ["near_misses", "role_swapped", "verb_swapped"]

_OF_THE_SUBJECT = (
    PartOfSpeech.ADVERB,
    PartOfSpeech.DIRECTION,
    PartOfSpeech.MOTION_PREPOSITION,
)


def near_misses(
    sentence: Sentence,
    lexicon: Lexicon | None = None,
    *,
    parts: Collection[PartOfSpeech] = tuple(PartOfSpeech),
    repeat_nouns: bool = False,
) -> list[Sentence]:
    """Return every sentence that differs in exactly one content word.

    Args:
        sentence: A parsed sentence.
        lexicon: Where replacements of the same part of speech and arity come from; the street
            corpus if not given.
        parts: Only words of these parts of speech are replaced.
        repeat_nouns: Whether a replacement may make two participants share a noun.

    Returns:
        Realised sentences, in the order of the words and of the lexicon.
    """
    known = default_lexicon() if lexicon is None else lexicon
    found: list[Sentence] = []
    for changed in _replaced(sentence.words, known, parts):
        if repeat_nouns or not _gains_namesakes(sentence.words, changed, known):
            found += _sayable(changed, known)
    return found


def verb_swapped(sentence: Sentence, lexicon: Lexicon | None = None) -> list[Sentence]:
    """Return the sentence with each other verb of the same arity in place of its own."""
    return near_misses(sentence, lexicon, parts=(PartOfSpeech.VERB,), repeat_nouns=True)


def role_swapped(sentence: Sentence, lexicon: Lexicon | None = None) -> Sentence | None:
    """Return the sentence with the first two roles of its verb exchanged.

    Adverbs, directions and motion prepositions go to the new subject; where things are stays with
    the things. Without a verb of two roles the first spatial preposition is turned around.

    Returns:
        The other sentence, or None if nothing can be swapped or swapping changes nothing.
    """
    known = default_lexicon() if lexicon is None else lexicon
    place = _word_to_swap(sentence.words, known)
    if place is None:
        return None
    first, second, *rest = sentence.words[place].participants
    words = [
        Word(word.entry, (second, *word.participants[1:]))
        if known[word.entry].part in _OF_THE_SUBJECT and word.participants[0] == first
        else word
        for word in sentence.words
    ]
    words[place] = Word(words[place].entry, (second, first, *rest))
    swapped = next(iter(_sayable(tuple(words), known)), None)
    return None if swapped is None or swapped.words == sentence.words else swapped


def _word_to_swap(words: tuple[Word, ...], lexicon: Lexicon) -> int | None:
    for part in (PartOfSpeech.VERB, PartOfSpeech.SPATIAL_PREPOSITION):
        for place, word in enumerate(words):
            if lexicon[word.entry].part is part and len(word.participants) > 1:
                return place
    return None


def _replaced(
    words: tuple[Word, ...], lexicon: Lexicon, parts: Collection[PartOfSpeech]
) -> Iterator[tuple[Word, ...]]:
    for place, word in enumerate(words):
        part = lexicon[word.entry].part
        if part not in parts:
            continue
        for other in lexicon.of_part(part, arity=len(word.participants)):
            if other.name != word.entry:
                replacement = Word(other.name, word.participants)
                yield (*words[:place], replacement, *words[place + 1 :])


def _gains_namesakes(before: tuple[Word, ...], after: tuple[Word, ...], lexicon: Lexicon) -> bool:
    return _num_namesakes(after, lexicon) > _num_namesakes(before, lexicon)


def _num_namesakes(words: tuple[Word, ...], lexicon: Lexicon) -> int:
    nouns = [w.entry for w in words if lexicon[w.entry].part is PartOfSpeech.NOUN]
    return len(nouns) - len(set(nouns))


def _sayable(words: tuple[Word, ...], lexicon: Lexicon) -> Iterator[Sentence]:
    # A replacement may clash with the rest ("placed ... in"); such a twin is left out.
    try:
        yield sentence_of(words, lexicon)
    except LanguageError:
        return
