"""Generating sentences: all sentences of the grammar by size, and variations of a sentence.

Variations (one word replaced, roles swapped, another verb) are the false sentences for
discriminative training and forced choice.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, permutations, product

from wordsight.errors import LanguageError
from wordsight.language.grammar import Clause, Phrase, Relation, bind
from wordsight.language.lexicon import Entry, Lexicon, PartOfSpeech
from wordsight.language.lexicon_file import default_lexicon
from wordsight.language.realisation import sentence_from_clause, sentence_of
from wordsight.records import Sentence, Word

__all__ = ["enumerate_sentences", "near_misses", "role_swapped", "verb_swapped"]

_ABOUT_SUBJECT = (PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION, PartOfSpeech.MOTION_PREPOSITION)


def enumerate_sentences(
    lexicon: Lexicon | None = None,
    *,
    max_participants: int = 2,
    max_relations: int = 1,
    max_manners: int = 1,
    max_motions: int = 1,
    max_adjectives: int = 0,
    repeat_nouns: bool = False,
) -> Iterator[Sentence]:
    """Yield every sentence with a verb within the bounds, small ones first, each meaning once.

    Args:
        lexicon: The lexicon; that of the street corpus if not given.
        max_participants: Maximum number of participants.
        max_relations: Maximum number of spatial prepositions; each is attached to an argument of
            the verb.
        max_manners: Maximum number of adverbs and directions together.
        max_motions: Maximum number of motion prepositions.
        max_adjectives: Maximum number of adjectives; at most one for each noun.
        repeat_nouns: Whether two participants may have the same noun.

    Yields:
        Realised sentences; their number grows fast.
    """
    known = default_lexicon() if lexicon is None else lexicon
    manners = known.of_part(PartOfSpeech.ADVERB) + known.of_part(PartOfSpeech.DIRECTION)
    motions = known.of_part(PartOfSpeech.MOTION_PREPOSITION)
    skeletons = [
        clause
        for verb in known.of_part(PartOfSpeech.VERB)
        for bare in _with_relations(_bare(verb), known, max_relations, max_participants)
        for moved in _with_motions(bare, motions, max_motions)
        if _num_participants(moved) <= max_participants
        for clause in _with_manners(moved, manners, max_manners)
    ]
    skeletons.sort(key=lambda clause: (_num_participants(clause), len(bind(clause))))
    for skeleton in skeletons:
        yield from _sentences(skeleton, known, max_adjectives, repeat_nouns)


def _bare(verb: Entry) -> Clause:
    return Clause(Phrase(None), verb.name, (Phrase(None),) * (verb.arity - 1))


def _with_relations(
    clause: Clause, lexicon: Lexicon, most: int, max_participants: int
) -> Iterator[Clause]:
    spatial = lexicon.of_part(PartOfSpeech.SPATIAL_PREPOSITION)
    arguments = (clause.subject, *clause.objects)
    for count in range(min(most, len(arguments)) + 1):
        for places in combinations(range(len(arguments)), count):
            for entries in product(spatial, repeat=count):
                placed = list(arguments)
                for place, entry in zip(places, entries, strict=True):
                    placed[place] = replace(placed[place], relations=(_relation(entry),))
                wider = replace(clause, subject=placed[0], objects=tuple(placed[1:]))
                if _num_participants(wider) <= max_participants:
                    yield wider


def _with_motions(clause: Clause, motions: Sequence[Entry], most: int) -> Iterator[Clause]:
    for count in range(most + 1):
        for entries in combinations(motions, count):
            yield replace(clause, motions=tuple(map(_relation, entries)))


def _with_manners(clause: Clause, manners: Sequence[Entry], most: int) -> Iterator[Clause]:
    for count in range(most + 1):
        for entries in combinations(manners, count):
            yield replace(clause, manners=tuple(entry.name for entry in entries))


def _relation(entry: Entry) -> Relation:
    return Relation(entry.name, (Phrase(None),) * (entry.arity - 1))


def _num_participants(clause: Clause) -> int:
    return 1 + max(p for word in bind(clause) for p in word.participants)


def _sentences(
    skeleton: Clause, lexicon: Lexicon, max_adjectives: int, repeat_nouns: bool
) -> Iterator[Sentence]:
    nouns = [entry.name for entry in lexicon.of_part(PartOfSpeech.NOUN)]
    adjectives = [entry.name for entry in lexicon.of_part(PartOfSpeech.ADJECTIVE)]
    size = _num_participants(skeleton)
    named = product(nouns, repeat=size) if repeat_nouns else permutations(nouns, size)
    for names in named:
        for described in _descriptions(adjectives, size, max_adjectives):
            clause = _filled(skeleton, list(zip(names, described, strict=True)))
            try:
                yield sentence_from_clause(clause, lexicon)
            except LanguageError:
                continue  # no unambiguous sentence has this meaning


def _descriptions(
    adjectives: list[str], size: int, most: int
) -> Iterator[tuple[tuple[str, ...], ...]]:
    options: list[tuple[str, ...]] = [(), *((name,) for name in adjectives)]
    for described in product(options if most else options[:1], repeat=size):
        if sum(map(len, described)) <= most:
            yield described


def _filled(clause: Clause, names: list[tuple[str, tuple[str, ...]]]) -> Clause:
    """Fill the phrases of a skeleton with nouns and adjectives in order of mention."""
    rest = iter(names)
    seen: set[str] = set()

    def fill(phrase: Phrase) -> Phrase:
        noun, adjectives = next(rest)
        definite = noun not in seen
        seen.add(noun)
        relations = tuple(map(fill_relation, phrase.relations))
        return Phrase(noun, adjectives, relations, definite)

    def fill_relation(relation: Relation) -> Relation:
        return Relation(relation.entry, tuple(map(fill, relation.phrases)))

    subject = fill(clause.subject)
    objects = tuple(map(fill, clause.objects))
    motions = tuple(map(fill_relation, clause.motions))
    return replace(clause, subject=subject, objects=objects, motions=motions)


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
        lexicon: Source of replacements of the same part of speech and arity; that of the street
            corpus if not given.
        parts: Only words of these parts of speech are replaced.
        repeat_nouns: Whether two participants may have the same noun after a replacement.

    Returns:
        Realised sentences, in the order of the words and of the lexicon.
    """
    known = default_lexicon() if lexicon is None else lexicon
    most_repeated = _num_repeated_nouns(sentence.words, known)
    sentences: list[Sentence] = []
    for changed in _replaced(sentence.words, known, parts):
        if repeat_nouns or _num_repeated_nouns(changed, known) <= most_repeated:
            sentences += _expressed(changed, known)
    return sentences


def verb_swapped(sentence: Sentence, lexicon: Lexicon | None = None) -> list[Sentence]:
    """Return the sentence with each other verb of the same arity in place of its own."""
    return near_misses(sentence, lexicon, parts=(PartOfSpeech.VERB,), repeat_nouns=True)


def role_swapped(sentence: Sentence, lexicon: Lexicon | None = None) -> Sentence | None:
    """Return the sentence with the first two roles of its verb exchanged.

    Adverbs, directions and motion prepositions go to the new subject; spatial prepositions stay.
    Without a verb of two roles the arguments of the first spatial preposition are exchanged.

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
        if known[word.entry].part in _ABOUT_SUBJECT and word.participants[0] == first
        else word
        for word in sentence.words
    ]
    words[place] = Word(words[place].entry, (second, first, *rest))
    swapped = next(iter(_expressed(tuple(words), known)), None)
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


def _num_repeated_nouns(words: tuple[Word, ...], lexicon: Lexicon) -> int:
    nouns = [w.entry for w in words if lexicon[w.entry].part is PartOfSpeech.NOUN]
    return len(nouns) - len(set(nouns))


def _expressed(words: tuple[Word, ...], lexicon: Lexicon) -> Iterator[Sentence]:
    # A replacement may clash with the rest ("placed ... in"); it is left out.
    try:
        yield sentence_of(words, lexicon)
    except LanguageError:
        return
