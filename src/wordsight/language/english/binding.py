"""From what a text says to words of a lexicon bound to participants."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from wordsight.errors import LanguageError, UnknownWordError, likeness, nearest
from wordsight.language.english.events import (
    MOST_COUNTED,
    Event,
    Mention,
    Reading,
    resolve_pronouns,
)
from wordsight.language.english.index import LexiconIndex, index_of
from wordsight.language.english.reading import read_events
from wordsight.language.english.verbs import VerbUse, best_use, synonymous_forms
from wordsight.language.english.words import PEOPLE_PRONOUNS, base_form, is_known
from wordsight.language.grammar import Clause, Phrase, Relation, bind_all
from wordsight.language.lexicon import Lexicon, PartOfSpeech
from wordsight.language.parser import parse
from wordsight.language.tokens import MOST_WORDS
from wordsight.records import Sentence

__all__ = [
    "Statement",
    "Understood",
    "is_clause",
    "read_query",
    "read_sentence",
    "read_sentences",
    "require_few",
    "understand",
    "understand_reading",
]

_MOST_EVENTS = 8
_MOST_PARTICIPANTS = 8  # of one event; their choices multiply
_SHOWN = 40  # characters of an unknown word
_WHERE = (PartOfSpeech.SPATIAL_PREPOSITION, PartOfSpeech.MOTION_PREPOSITION)
_ABOUT_AS_CLOSE = 0.15  # difference of likeness up to which spellings are suggested together
_CLOSE = 0.85  # likeness from which a word of English may be a misspelling of a known one
_LONG = 600  # characters of a sentence that the grammar of a lexicon is tried on


@dataclass(frozen=True)
class Statement:
    """One event of a text, in words of a lexicon.

    Attributes:
        sentence: Its words; the text is the whole text.
        link: How it follows the one before: "", ``and``, ``then``, ``before``, ``after`` or
            ``while``.
        negated: Whether it is denied.
        focus: The participant a question asks for, if any.
        goes_on: Whether it has left out its subject: "approached the table and left".
    """

    sentence: Sentence
    link: str = ""
    negated: bool = False
    focus: int | None = None
    goes_on: bool = False


@dataclass(frozen=True)
class Understood:
    """What was understood of a text.

    Attributes:
        text: The text.
        statements: Its events.
        question: What it asks, if it does: ``who``, ``what``, ``when``, ``where``, ``how many``,
            ``how often`` or ``whether``.
        ignored: Words that were left out.
        guesses: What pronouns and other words were taken for.
        is_literal: Whether the grammar of the lexicon read it word for word.
    """

    text: str
    statements: tuple[Statement, ...]
    question: str | None = None
    ignored: tuple[str, ...] = ()
    guesses: tuple[str, ...] = ()
    is_literal: bool = False

    def sentence(self) -> Sentence:
        """Return all events as one sentence.

        Raises:
            LanguageError: If something is denied, or more than one event is put in order.
        """
        if any(s.negated for s in self.statements):
            raise LanguageError(
                f"{self.text[:80]!r} denies something; only `search` looks for what did not happen."
            )
        if len(self.statements) == 1:
            return self.statements[0].sentence
        raise LanguageError(
            f"{self.text[:80]!r} says {len(self.statements)} things; give each as a sentence of "
            "its own, or look for them together with `search`."
        )

    def happened(self) -> tuple[Sentence, ...]:
        """Return what is said to happen, a sentence per event.

        Raises:
            LanguageError: If nothing is: the text asks or denies.
        """
        if self.question is not None:
            raise LanguageError(
                f"{self.text[:80]!r} is a question; only what is said to happen teaches words."
            )
        found = tuple(s.sentence for s in self.statements if not s.negated)
        if not found:
            raise LanguageError(
                f"{self.text[:80]!r} says what does not happen, which teaches no words."
            )
        return found

    def explanation(self) -> str:
        """Say in one line what was understood, what was guessed and what was left out."""
        parts = []
        for s in self.statements:
            denied = "not " if s.negated else ""
            parts.append(f"{s.link + ' ' if s.link else ''}{denied}{s.sentence.meaning}")
        shown = f"Understood: {'; '.join(parts)}"
        if self.question is not None:
            shown += f" ({self.question}?)"
        if self.guesses:
            shown += f". Taken for: {', '.join(self.guesses)}"
        if self.ignored:
            shown += f". Left out: {', '.join(self.ignored)}"
        return shown + "."


def understand(text: str, lexicon: Lexicon, earlier: Sequence[str] = ()) -> Understood:
    """Read a text as people write it into words of a lexicon.

    Tense, number, person and voice do not matter; pronouns stand for the nearest noun that fits,
    and verbs and nouns that are not known for those that mean about the same.

    Args:
        text: A sentence, several clauses, a question or a bare phrase.
        lexicon: The words that are known.
        earlier: What was said before, oldest first, for pronouns.

    Raises:
        UnknownWordError: If a noun or verb is not in the lexicon; it names similar words.
        LanguageError: If nothing can be understood.
    """
    index = index_of(lexicon)
    memory: list[Mention] = []
    for before in earlier:
        resolve_pronouns(read_events(before, index.uses, index.phrases, index.foreign), memory)
    reading = read_events(text, index.uses, index.phrases, index.foreign)
    resolve_pronouns(reading, memory)
    return understand_reading(reading, lexicon)


def is_clause(text: str) -> bool:
    """Whether a text asks something or says who does what, rather than being a few words."""
    if len(text.split()) > MOST_WORDS:
        return True
    try:
        reading = read_events(text)
    except LanguageError:
        return False
    says = any(e.verb is not None and (e.subjects or e.objects) for e in reading.events)
    return reading.question is not None or says


def read_query(text: str, lexicon: Lexicon) -> Understood:
    """Read what is asked for: by the grammar of the lexicon if that reads it, else as people write.

    Raises:
        LanguageError: If neither does; see :func:`understand`.
    """
    if len(text) <= _LONG:
        try:
            literal = parse(text, lexicon)
        except LanguageError:
            pass  # not in so many words
        else:
            return Understood(text, (Statement(require_few(literal)),), is_literal=True)
    return understand(text, lexicon)


def require_few(sentence: Sentence) -> Sentence:
    """Return a sentence that has no more participants than can be followed.

    Raises:
        LanguageError: If it has more.
    """
    found = len({number for word in sentence.words for number in word.participants})
    if found > _MOST_PARTICIPANTS:
        raise LanguageError(
            f"expected up to {_MOST_PARTICIPANTS} people and things in an event, got {found} in "
            f"{sentence.text[:60]!r}; write it in parts."
        )
    return sentence


def read_sentence(text: str, lexicon: Lexicon) -> Sentence:
    """Read one sentence about one event; see :func:`read_query`."""
    return read_query(text, lexicon).sentence()


def read_sentences(text: str, lexicon: Lexicon) -> tuple[Sentence, ...]:
    """Read what a text says to happen, a sentence per event; see :func:`read_query`."""
    return read_query(text, lexicon).happened()


def understand_reading(reading: Reading, lexicon: Lexicon, *, synonyms: bool = True) -> Understood:
    """Say what was read in words of a lexicon; see :func:`understand`.

    Args:
        reading: What was read.
        lexicon: The words that are known.
        synonyms: Whether a word that is not known is taken for one that means about the same.
    """
    events = reading.events
    if not events:
        raise LanguageError(
            f"{reading.text[:60]!r} names nothing that can be seen; write who does what."
        )
    if len(events) > _MOST_EVENTS:
        raise LanguageError(
            f"expected up to {_MOST_EVENTS} events in a text, got {len(events)}; write it in parts."
        )
    binder = _EventBinder(index_of(lexicon), reading, synonyms)
    statements = tuple(binder.statement(event) for event in events)
    if binder.unknown:
        raise _unknown_words(reading, binder)
    return Understood(
        reading.text,
        statements,
        reading.question,
        tuple(dict.fromkeys([*reading.ignored, *binder.ignored])),
        tuple(dict.fromkeys([*reading.guesses, *binder.guesses])),
    )


def _unknown_words(reading: Reading, binder: "_EventBinder") -> UnknownWordError:
    known = binder.index.spellings() | synonymous_forms(binder.index)
    parts = []
    for word in dict.fromkeys(binder.unknown):
        close = _similar(word[:_SHOWN], known)
        parts.append(
            f"{word[:_SHOWN]!r}" + (f" (did you mean {' or '.join(close)}?)" if close else "")
        )
    names = sorted(entry.name for entry in binder.index.lexicon)[:8]
    acting = {entry.name for entry in binder.index.actors}
    plain = binder.index.lexicon.example(lambda _, place, noun: not place and noun in acting)
    such = f", and a sentence is {plain!r}" if plain else "."
    return UnknownWordError(
        f"no meaning is known for {', '.join(parts)} in {reading.text[:80]!r}; known words are, "
        f"for example, {', '.join(names)}{such}",
        tuple(binder.unknown),
    )


def _similar(said: str, known: set[str]) -> list[str]:
    """Return known words that a word, or the verb before its particles, may be a misspelling of."""
    word = said.split()[0]
    close = {one: likeness(word, one) for one in nearest(word, known)}
    least = max(close.values(), default=0.0) - _ABOUT_AS_CLOSE
    if any(is_known(word, tag) for tag in "NVJA"):
        least = max(least, _CLOSE)  # a word of English is hardly a misspelling
    close.pop(word, None)  # known as another part of speech
    found = {base_form(one, "V"): one for one in reversed(close) if close[one] >= least}
    return list(reversed(found.values()))  # one form of each word


@dataclass
class _EventBinder:
    """Turns events into clauses over the entries of a lexicon."""

    index: LexiconIndex
    reading: Reading
    synonyms: bool = True
    unknown: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    guesses: list[str] = field(default_factory=list)

    def statement(self, event: Event) -> Statement:
        focus: list[Phrase] = []
        clauses = self._clauses(event, focus)
        if self.unknown:
            return Statement(Sentence(self.reading.text.strip(), ()))  # which is an error
        words, introduced = bind_all(clauses)
        number = next((n for n, p in enumerate(introduced) for f in focus if p is f), None)
        sentence = Sentence(self.reading.text.strip(), tuple(dict.fromkeys(words)))
        if not any(self.index.lexicon[w.entry].part not in _WHERE for w in words):
            raise LanguageError(
                f"{self.reading.text[:60]!r} names nothing that can be seen; write who does what."
            )
        return Statement(require_few(sentence), event.link, event.negated, number, event.goes_on)

    def _clauses(self, event: Event, focus: list[Phrase]) -> list[Clause]:
        use = self._verb(event)
        subjects = [p for m in event.subjects for p in self._phrases(m, focus)] or [Phrase(None)]
        if event.verb is None:
            before = len(self.ignored)
            relations = [r for p, m, _ in event.obliques for r in self._relation(p, m)]
            # "There is a cup on the table": what follows "is" is what there is.
            subjects = [p for m in event.objects for p in self._phrases(m, focus)] or subjects
            if not (event.subjects or event.objects or relations):  # "near the chair"
                self.ignored[before:] = [word for word, _, _ in event.obliques]
                subjects = [p for _, m, _ in event.obliques for p in self._phrases(m, focus)]
            if len(subjects) > 1:  # "that was a chair"
                said = [p for p in subjects if p.noun or p.adjectives or p.relations]
                subjects = said or subjects[:1]
            return [
                Clause(replace(p, relations=(*p.relations, *relations))) if relations else Clause(p)
                for p in subjects
            ]
        manners, motions = self._manners(event), []
        objects = [[p for m in group for p in self._phrases(m, focus)] for group in use.slots]
        for preposition, mention, after_object in use.rest:
            for relation in self._relation(preposition, mention):
                entry = self.index.lexicon[relation.entry]
                spatial = entry.part is PartOfSpeech.SPATIAL_PREPOSITION
                if spatial and after_object and objects and objects[0]:
                    about = objects[0]
                    changed = [replace(p, relations=(*p.relations, relation)) for p in about]
                    for old, new in zip(about, changed, strict=True):
                        focus[:] = [new if f is old else f for f in focus]
                    objects[0] = changed
                else:
                    motions.append(relation)
        first, *others = objects or [[]]
        tail = tuple((group or [Phrase(None)])[0] for group in others)
        return [
            Clause(s, use.entry, (*((o,) if objects else ()), *tail), manners, tuple(motions))
            for s in subjects
            for o in (first or [Phrase(None)])
        ]

    def _verb(self, event: Event) -> VerbUse:
        if event.verb is None:
            return VerbUse(None, [], [])
        use = best_use(event, self.index, synonyms=self.synonyms)
        if use is None:
            self.unknown.append(" ".join([event.verb, *event.particles]))
            for mention in event.objects:
                self._noun(mention)
            return VerbUse(None, [], [])
        self.ignored += use.ignored
        said = " ".join([event.verb, *event.particles])
        if use.guessed:
            self.guesses.append(f"{said} = {use.entry}")
        return use

    def _manners(self, event: Event) -> tuple[str, ...]:
        found = []
        for part, words in (
            (PartOfSpeech.ADVERB, event.adverbs),
            (PartOfSpeech.DIRECTION, event.directions),
        ):
            for word in words:
                entry = self.index.simple(part, word)
                if entry is None:
                    self.ignored.append(word)
                else:
                    found.append(entry.name)
        return tuple(found)

    def _phrases(self, mention: Mention, focus: list[Phrase]) -> list[Phrase]:
        """Return one phrase, or as many as a number says."""
        phrase = self._phrase(mention)
        count = mention.count if mention.count and mention.count <= MOST_COUNTED else 1
        if mention.joined:
            phrase = replace(phrase, definite=False)  # "a man and a woman" are two
        phrases = [phrase] if count == 1 else [replace(phrase, definite=False)] * count
        # Equal phrases are told apart by identity.
        phrases = [replace(p) for p in phrases]
        if mention.focus:
            focus.append(phrases[0])
        return phrases

    def _phrase(self, mention: Mention) -> Phrase:
        noun, adjectives = self._noun(mention)
        for word in mention.adjectives:
            entry = self.index.simple(PartOfSpeech.ADJECTIVE, word)
            if entry is None:
                self.ignored.append(word)
            else:
                adjectives.append(entry.name)
        relations = tuple(r for p, m in mention.relations for r in self._relation(p, m))
        return Phrase(noun, tuple(dict.fromkeys(adjectives)), relations, mention.definite)

    def _noun(self, mention: Mention) -> tuple[str | None, list[str]]:
        if not mention.words:
            if mention.pronoun in PEOPLE_PRONOUNS:
                entry = self.index.of_kind("person")
                if mention.pronoun in _ANYONE and len(self.index.actors) > 1:
                    entry = None  # the hand may be all that is seen of someone
                if entry is not None:
                    self.guesses.append(f"{mention.pronoun} = {entry.name}")
                return (entry.name if entry else None), []
            return None, []
        entry, length = self.index.noun(mention.words, synonyms=self.synonyms)
        if entry is None:
            self.unknown.append(mention.words[-1])
            return None, []
        spelled = " ".join(mention.words)
        written = {base_form(s.split()[-1].rpartition("-")[2], "N") for s in entry.spellings}
        if base_form(spelled.split()[-1].rpartition("-")[2], "N") not in written:
            self.guesses.append(f"{spelled} = {entry.name}")
        adjectives: list[str] = []
        before = spelled.replace("-", " ").split()[: -length or None]
        for word in before:
            known = self.index.simple(PartOfSpeech.ADJECTIVE, word)
            if known is None:
                self.ignored.append(word)
            else:
                adjectives.append(known.name)
        return entry.name, adjectives

    def _relation(self, preposition: str, mention: Mention) -> list[Relation]:
        entry = None
        for part in (PartOfSpeech.SPATIAL_PREPOSITION, PartOfSpeech.MOTION_PREPOSITION):
            entry = entry or self.index.simple(part, preposition)
        unknown, ignored = len(self.unknown), len(self.ignored)
        phrase = self._phrase(mention)
        if entry is None or entry.arity != 2 or len(self.unknown) > unknown:
            # What a preposition adds may be left out; the event is still the same.
            del self.unknown[unknown:]
            del self.ignored[ignored:]
            self.ignored.append(" ".join([preposition, *mention.adjectives, *mention.words]))
            return []
        return [Relation(entry.name, (phrase,))]


_ANYONE = frozenset(
    [
        "someone",
        "somebody",
        "anyone",
        "anybody",
        "everyone",
        "everybody",
        "who",
        "whom",
        "nobody",
    ]
)
