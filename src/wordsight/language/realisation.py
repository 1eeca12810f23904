"""Realising meanings as English sentences that parse back to the same meaning."""

from collections.abc import Iterable
from functools import lru_cache

from wordsight.errors import LanguageError
from wordsight.language.grammar import Clause, Phrase, Relation, bind, compile_grammar
from wordsight.language.lexicon import SLOT, Entry, Lexicon, PartOfSpeech
from wordsight.language.lexicon_file import default_lexicon
from wordsight.language.parser import parse
from wordsight.records import Sentence, Word

__all__ = ["realise", "sentence_of"]


def realise(sentence: Sentence | Iterable[Word], lexicon: Lexicon | None = None) -> str:
    """Return an English sentence with the given meaning.

    The text parses back: ``parse(realise(s)).words`` are the words of ``s``, in canonical order and
    with participants numbered in order of mention.

    Args:
        sentence: A parsed sentence, or its words.
        lexicon: The lexicon; that of the street corpus if not given.

    Returns:
        One sentence with a capital letter and a full stop, each entry in its first spelling.

    Raises:
        LanguageError: If no sentence of the grammar has the meaning: two verbs, a participant
            that is not connected, or a text that would be parsed differently.
    """
    words = sentence.words if isinstance(sentence, Sentence) else sentence
    return sentence_of(words, lexicon).text


def sentence_of(words: Iterable[Word], lexicon: Lexicon | None = None) -> Sentence:
    """Return the canonical sentence of a meaning: realised text, words in canonical order.

    Args:
        words: Words over participants, in any order.
        lexicon: The lexicon; that of the street corpus if not given.
    """
    known = default_lexicon() if lexicon is None else lexicon
    meaning = _MeaningParts(tuple(words), known)
    return sentence_from_clause(meaning.clause(), known)


def sentence_from_clause(clause: Clause, lexicon: Lexicon) -> Sentence:
    """Return the sentence of a clause, after checking that it parses back."""
    text, words = _write(clause, lexicon), bind(clause)
    misreading = _misreading(_shape(words, lexicon), lexicon)
    if misreading is not None:
        raise LanguageError(
            f"cannot express {_meaning_text(words)}: {text!r} is parsed differently "
            f"({misreading}); change the spellings in the lexicon, or use two sentences."
        )
    return Sentence(text, words)


class _MeaningParts:
    """The words of a sentence by part of speech, to be arranged in a clause."""

    def __init__(self, words: tuple[Word, ...], lexicon: Lexicon) -> None:
        self.words = words
        self.by_part: dict[PartOfSpeech, list[Word]] = {part: [] for part in PartOfSpeech}
        for word in words:
            entry = lexicon[word.entry]
            if entry.arity != len(word.participants):
                raise LanguageError(
                    f"{word} has {len(word.participants)} participants, but the lexicon gives "
                    f"{word.entry} {entry.arity} roles: ({', '.join(entry.roles)})."
                )
            self.by_part[entry.part].append(word)
        self.mentioned: list[int] = []

    def clause(self) -> Clause:
        """Arrange the words in one clause.

        Raises:
            LanguageError: If one clause cannot hold them.
        """
        verbs = self.by_part[PartOfSpeech.VERB]
        if not self.words or len(verbs) > 1:
            raise LanguageError(
                f"a sentence has one verb or describes one thing, got {_meaning_text(self.words)}."
            )
        subject = verbs[0].participants[0] if verbs else self._topic()
        clause = Clause(
            self._phrase(subject),
            verbs[0].entry if verbs else None,
            tuple(self._phrase(p) for p in verbs[0].participants[1:]) if verbs else (),
            self._manners(subject, bool(verbs)),
            self._motions(subject, bool(verbs)),
        )
        self._check(bind(clause))
        return clause

    def _topic(self) -> int:
        spatial = self.by_part[PartOfSpeech.SPATIAL_PREPOSITION]
        placed = {p for word in spatial for p in word.participants[1:]}
        figures = [word.participants[0] for word in spatial]
        free = [p for p in figures if p not in placed]
        return (free or figures or [self.words[0].participants[0]])[0]

    def _phrase(self, participant: int) -> Phrase:
        nouns = [
            w.entry for w in self.by_part[PartOfSpeech.NOUN] if w.participants[0] == participant
        ]
        if len(nouns) > 1:
            raise LanguageError(f"one participant cannot be both {' and '.join(nouns)}.")
        noun = nouns[0] if nouns else None
        adjectives = tuple(
            w.entry
            for w in self.by_part[PartOfSpeech.ADJECTIVE]
            if w.participants[0] == participant
        )
        if participant in self.mentioned:
            return Phrase(noun, adjectives)
        namesakes = {
            w.entry for w in self.by_part[PartOfSpeech.NOUN] if w.participants[0] in self.mentioned
        }
        self.mentioned.append(participant)
        relations = tuple(
            Relation(w.entry, tuple(self._phrase(p) for p in w.participants[1:]))
            for w in self.by_part[PartOfSpeech.SPATIAL_PREPOSITION]
            if w.participants[0] == participant
        )
        return Phrase(noun, adjectives, relations, definite=noun not in namesakes)

    def _manners(self, subject: int, has_verb: bool) -> tuple[str, ...]:
        parts = (PartOfSpeech.ADVERB, PartOfSpeech.DIRECTION)
        words = [word for part in parts for word in self.by_part[part]]
        self._require_subject(words, subject, has_verb)
        return tuple(word.entry for word in words)

    def _motions(self, subject: int, has_verb: bool) -> tuple[Relation, ...]:
        words = self.by_part[PartOfSpeech.MOTION_PREPOSITION]
        self._require_subject(words, subject, has_verb)
        return tuple(
            Relation(w.entry, tuple(self._phrase(p) for p in w.participants[1:])) for w in words
        )

    def _require_subject(self, words: list[Word], subject: int, has_verb: bool) -> None:
        for word in words:
            if not has_verb or word.participants[0] != subject:
                raise LanguageError(
                    f"cannot express {word}: adverbs, directions and motion prepositions are about "
                    f"the subject of a verb, in {_meaning_text(self.words)}."
                )

    def _check(self, bound: tuple[Word, ...]) -> None:
        """Check that the clause has the given meaning."""
        expressed = [
            Word(w.entry, tuple(self.mentioned[p] for p in w.participants))
            for w in bound
            if max(w.participants) < len(self.mentioned)
        ]
        if sorted(map(str, expressed)) != sorted(map(str, self.words)):
            raise LanguageError(
                f"cannot express {_meaning_text(self.words)} in one sentence: some of it is not "
                "connected to the rest, or two participants with the same noun look alike."
            )


def _write(clause: Clause, lexicon: Lexicon) -> str:
    subject = _noun_phrase(clause.subject, lexicon)
    if clause.verb is not None:
        objects = [_noun_phrase(phrase, lexicon) for phrase in clause.objects]
        parts = [subject, _spelled(lexicon[clause.verb], objects)]
    elif clause.subject.relations:
        bare = Phrase(clause.subject.noun, clause.subject.adjectives, (), clause.subject.definite)
        parts = [_noun_phrase(bare, lexicon), "is", _relations(clause.subject, lexicon)]
    else:
        new = Phrase(clause.subject.noun, clause.subject.adjectives, definite=False)
        parts = ["there is", _noun_phrase(new, lexicon, article="a")]
    parts += [_spelled(lexicon[entry], []) for entry in clause.manners]
    parts += [_relation(relation, lexicon) for relation in clause.motions]
    text = " ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _noun_phrase(phrase: Phrase, lexicon: Lexicon, article: str = "another") -> str:
    if phrase.noun is None:
        words = ["something"]
    else:
        words = [_spelled(lexicon[e], []) for e in (*phrase.adjectives, phrase.noun)]
        new = "an" if article == "a" and words[0][0] in "aeiou" else article
        words.insert(0, "the" if phrase.definite else new)
    return " ".join(words + ([_relations(phrase, lexicon)] if phrase.relations else []))


def _relations(phrase: Phrase, lexicon: Lexicon) -> str:
    return " and ".join(_relation(relation, lexicon) for relation in phrase.relations)


def _relation(relation: Relation, lexicon: Lexicon) -> str:
    phrases = [_noun_phrase(phrase, lexicon) for phrase in relation.phrases]
    return _spelled(lexicon[relation.entry], phrases)


def _spelled(entry: Entry, phrases: list[str]) -> str:
    spelling = entry.spellings[0]
    if spelling == entry.name and entry.part is not PartOfSpeech.NOUN:
        spelling = spelling.replace("-", " ")
    if SLOT not in spelling:
        return " ".join([spelling, *phrases])
    pieces = spelling.split(SLOT)
    return " ".join(
        part.strip()
        for pair in zip(pieces, [*phrases, ""], strict=True)
        for part in pair
        if part.strip()
    )


def _shape(words: tuple[Word, ...], lexicon: Lexicon) -> tuple[Word, ...]:
    """Replace one-word entries by the first of their kind: the grammar treats them alike."""
    representatives = _representatives(lexicon)
    chosen: dict[str, str] = {}
    taken: dict[PartOfSpeech, int] = {}
    for word in words:
        part = lexicon[word.entry].part
        if word.entry not in chosen and word.entry in representatives[part]:
            chosen[word.entry] = representatives[part][taken.get(part, 0)]
            taken[part] = taken.get(part, 0) + 1
    return tuple(Word(chosen.get(w.entry, w.entry), w.participants) for w in words)


@lru_cache(maxsize=16)
def _representatives(lexicon: Lexicon) -> dict[PartOfSpeech, list[str]]:
    plain = compile_grammar(lexicon).plain
    found: dict[PartOfSpeech, list[str]] = {part: [] for part in PartOfSpeech}
    for entry in lexicon:
        if len(entry.patterns[0]) == 1 and entry.patterns[0][0] in plain:
            found[entry.part].append(entry.name)
    return found


@lru_cache(maxsize=65536)
def _misreading(shape: tuple[Word, ...], lexicon: Lexicon) -> str | None:
    """Return how the text of a shape is parsed if differently, else None."""
    text = _write(_MeaningParts(shape, lexicon).clause(), lexicon)
    try:
        words = parse(text, lexicon).words
    except LanguageError as error:
        return str(error)
    return None if words == shape else _meaning_text(words)


def _meaning_text(words: Iterable[Word]) -> str:
    return " ".join(map(str, words))
