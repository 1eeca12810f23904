"""Guessing a lexicon from how words are used, for a corpus that comes without one.

Goes beyond the papers, which are given every word's part of speech. The guide on language says
what can be inferred this way and what cannot.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from wordsight.language.closed_class import (
    CLAUSE_WORDS,
    DESCRIPTIVE_ADJECTIVES,
    PARTICLES,
    PATH_PREPOSITIONS,
    PLACE_PREPOSITIONS,
)
from wordsight.language.errors import LanguageError, LexiconError
from wordsight.language.lexicon import SLOT, Entry, Lexicon, PartOfSpeech
from wordsight.language.parser import parse
from wordsight.language.usage import Symbol, Usage, certain_nouns, read_usage, symbols_of
from wordsight.records import Sentence

__all__ = ["InferredEntry", "InferredLexicon", "infer_lexicon"]


@dataclass(frozen=True)
class InferredEntry:
    """One entry that was inferred.

    Attributes:
        entry: The entry.
        count: In how many sentences it was used so.
        why: The evidence in a few words.
    """

    entry: Entry
    count: int
    why: str


@dataclass(frozen=True)
class InferredLexicon:
    """What was learned about the words of a corpus.

    Attributes:
        lexicon: The given entries and the inferred ones.
        findings: The inferred entries with their evidence, in the order of parts of speech.
        unread: Sentences that the lexicon still does not read, each with the reason.
    """

    lexicon: Lexicon
    findings: tuple[InferredEntry, ...]
    unread: tuple[tuple[str, str], ...]

    def report(self) -> str:
        """Return a table of what was inferred, for people to check."""
        lines = [f"{len(self.findings)} entries inferred from how they are used:"]
        for finding in self.findings:
            entry = finding.entry
            roles = f"{entry.part} ({', '.join(entry.roles)})"
            spellings = " | ".join(entry.spellings)
            lines.append(
                f"  {entry.name:<18} {roles:<34} {finding.count:>5}x  {spellings}  [{finding.why}]"
            )
        if self.unread:
            lines.append(f"{len(self.unread)} sentences could not be read, for example:")
            lines += [f"  {text}\n    {why.splitlines()[0]}" for text, why in self.unread[:3]]
        return "\n".join(lines)


def infer_lexicon(
    sentences: Iterable[str | Sentence], lexicon: Lexicon | None = None
) -> InferredLexicon:
    """Infer part of speech, arity and spelling of unknown words from how they are used.

    A word after a determiner is a noun; words before it that other nouns share, that it does
    without, or that are plain words for colour, size and shape, are adjectives; what follows the
    subject is the verb, with the particles and prepositions right after it; a preposition before
    the verb says where something is; one after the object that only one verb takes belongs to that
    verb, one that several take is a motion preposition; words in "ly" are adverbs.

    Args:
        sentences: The corpus; the more ways a word is used, the surer the guess.
        lexicon: Entries known beforehand; they are kept and help to read the rest.

    Returns:
        The lexicon with the evidence for each new entry and the sentences still unread.
    """
    known = Lexicon() if lexicon is None else lexicon
    texts = [s.text if isinstance(s, Sentence) else s for s in sentences]
    unknown = {text for text in set(texts) if _reason_unread(text, known) is not None}
    wanting = [text for text in texts if text in unknown]
    evidence = _Evidence(known)
    for usage, count in _usages(wanting, known):
        evidence.add(usage, count)
    findings = evidence.findings()
    wider = known.extended(finding.entry for finding in findings)
    counted = Counter(wanting)
    reasons = {text: _reason_unread(text, wider) for text in counted}
    unread = tuple((text, why) for text, why in reasons.items() if why is not None)
    return InferredLexicon(wider, tuple(findings), unread)


def _reason_unread(text: str, lexicon: Lexicon) -> str | None:
    try:
        parse(text, lexicon)
    except LanguageError as error:
        return str(error)
    return None


def _usages(texts: list[str], lexicon: Lexicon) -> list[tuple[Usage, int]]:
    adverbs = _spellings_of(lexicon, PartOfSpeech.ADVERB)
    counted: dict[tuple[Symbol, ...], int] = Counter()
    for text in texts:
        try:
            symbols = tuple(symbols_of(text, adverbs))
        except LanguageError:
            continue  # reported with the unread sentences
        if not any(symbol.text in CLAUSE_WORDS for symbol in symbols):
            counted[symbols] += 1
    nouns = certain_nouns(map(list, counted)) | _spellings_of(lexicon, PartOfSpeech.NOUN)
    read = ((read_usage(list(symbols), nouns), count) for symbols, count in counted.items())
    return [(usage, count) for usage, count in read if usage is not None]


def _spellings_of(lexicon: Lexicon, part: PartOfSpeech) -> set[str]:
    return {spelling for entry in lexicon.of_part(part) for spelling in entry.spellings}


class _Evidence:
    """Counts of uses over the corpus, and the decisions they lead to."""

    def __init__(self, known: Lexicon) -> None:
        self.known = known
        self.phrases: Counter[tuple[str, ...]] = Counter()
        self.simple: dict[PartOfSpeech, Counter[str]] = defaultdict(Counter)
        self.placing: Counter[str] = Counter()
        self.frames: Counter[tuple[str, tuple[str, ...]]] = Counter()

    def add(self, usage: Usage, count: int) -> None:
        for phrase in usage.phrases:
            self.phrases[phrase] += count
        for part, words in (
            (PartOfSpeech.ADJECTIVE, usage.adjectives),
            (PartOfSpeech.ADVERB, usage.adverbs),
            (PartOfSpeech.DIRECTION, usage.directions),
        ):
            for word in words:
                self.simple[part][word] += count
        for preposition in usage.spatial:
            self.placing[preposition] += count
        if usage.verb is not None:
            self.frames[usage.verb, tuple(usage.after_verb)] += count

    def findings(self) -> list[InferredEntry]:
        """Decide what every word is."""
        found = _Collected(self.known)
        self._add_nouns(found)
        whys = {
            PartOfSpeech.ADJECTIVE: "said of nouns",
            PartOfSpeech.ADVERB: "ends in 'ly'",
            PartOfSpeech.DIRECTION: "a direction of English",
        }
        for part, why in whys.items():
            for word, count in self.simple[part].items():
                found.add(word, part, part.default_roles, word, count, why)
        self._add_prepositions_and_verbs(found)
        return found.findings()

    def _add_nouns(self, found: "_Collected") -> None:
        alone = {phrase[0] for phrase in self.phrases if len(phrase) == 1}
        nouns_of: dict[str, set[str]] = defaultdict(set)
        for *others, noun in self.phrases:
            for other in others:
                nouns_of[other].add(noun)
        for (*others, noun), count in self.phrases.items():
            # A word that always comes with the same noun, and the noun with it, is half a name;
            # unless everybody knows that it says how a thing looks: few corpora name all others.
            free = DESCRIPTIVE_ADJECTIVES if noun not in alone else set(others)
            said = [o for o in others if o in free or len(nouns_of[o]) > 1]
            name = " ".join([*(o for o in others if o not in said), noun])
            found.add(name, PartOfSpeech.NOUN, ("any",), name, count, "follows a determiner")
            for other in said:
                self.simple[PartOfSpeech.ADJECTIVE][other] += count

    def _add_prepositions_and_verbs(self, found: "_Collected") -> None:
        kinds = self._kinds_of_prepositions()
        for preposition, count in self.placing.items():
            found.preposition(preposition, PartOfSpeech.SPATIAL_PREPOSITION, count, "places a noun")
        for (verb, after), count in self.frames.items():
            pattern: list[str] = [verb]
            skip = False
            for place, item in enumerate(after):
                governs = place + 1 < len(after) and after[place + 1] == SLOT
                part = kinds.get(item) if governs else None
                if skip:
                    skip = False
                elif part is not None and not self._belongs(verb, after[:place], item):
                    found.preposition(item, part, count, "used with several verbs or nouns")
                    skip = True
                else:
                    pattern.append(item)
            self._add_verb(found, pattern, count)

    def _add_verb(self, found: "_Collected", pattern: list[str], count: int) -> None:
        name = " ".join(item for item in pattern if item != SLOT)
        slots = pattern.count(SLOT)
        direct = all(item == SLOT or item in PARTICLES for item in pattern[1:2])
        first = ("agent", "patient", "goal") if direct else ("agent", "goal", "patient")
        roles = first + tuple(f"goal{number}" for number in range(2, slots))
        why = "follows the subject"
        found.add(name, PartOfSpeech.VERB, roles[: slots + 1], " ".join(pattern), count, why)

    def _kinds_of_prepositions(self) -> dict[str, PartOfSpeech]:
        """Tell which prepositions stand on their own; the others belong to their verb."""
        kinds: dict[str, PartOfSpeech] = {
            spelling: entry.part
            for entry in self.known
            if entry.part.takes_slots and entry.part is not PartOfSpeech.VERB
            for spelling in entry.spellings
        }
        for preposition, verbs in self._verbs_of_prepositions().items():
            phrase = tuple(preposition.split())
            if preposition in self.placing or phrase in PLACE_PREPOSITIONS:
                kinds.setdefault(preposition, PartOfSpeech.SPATIAL_PREPOSITION)
            elif phrase in PATH_PREPOSITIONS or len(verbs) > 1:
                kinds.setdefault(preposition, PartOfSpeech.MOTION_PREPOSITION)
        return kinds

    def _verbs_of_prepositions(self) -> dict[str, set[str]]:
        """Return which verbs take each preposition after their object; none if only directly."""
        verbs_of: dict[str, set[str]] = defaultdict(set)
        for verb, after in self.frames:
            for place in range(len(after) - 1):
                if after[place] != SLOT and after[place + 1] == SLOT:
                    verbs_of[after[place]] |= {verb} if SLOT in after[:place] else set()
        return verbs_of

    def _belongs(self, verb: str, before: tuple[str, ...], preposition: str) -> bool:
        """Tell whether a preposition right after a verb is part of it: "reached for"."""
        if before or tuple(preposition.split()) in PATH_PREPOSITIONS:
            return False
        return all(after[:1] == (preposition,) for other, after in self.frames if other == verb)


class _Collected:
    """Entries under way: spellings and counts gather under one name and part of speech."""

    def __init__(self, known: Lexicon) -> None:
        self.known = known
        self.roles: dict[tuple[str, PartOfSpeech], tuple[str, ...]] = {}
        self.spellings: dict[tuple[str, PartOfSpeech], Counter[str]] = defaultdict(Counter)
        self.whys: dict[tuple[str, PartOfSpeech], str] = {}

    def add(
        self,
        name: str,
        part: PartOfSpeech,
        roles: tuple[str, ...],
        spelling: str,
        count: int,
        why: str,
    ) -> None:
        key = (f"{name} {len(roles)}" if self._other_arity(name, part, roles) else name, part)
        self.roles.setdefault(key, roles)
        self.whys.setdefault(key, why)
        self.spellings[key][spelling] += count

    def preposition(self, name: str, part: PartOfSpeech, count: int, why: str) -> None:
        self.add(name, part, part.default_roles, name, count, why)

    def findings(self) -> list[InferredEntry]:
        """Return the entries that the known lexicon lacks, by part of speech and then count."""
        found: list[InferredEntry] = []
        lexicon = self.known
        for part in PartOfSpeech:
            for name in sorted(n for n, p in self.spellings if p is part):
                finding = self._finding(name, part, lexicon)
                try:
                    lexicon = lexicon.extended([finding.entry])
                except LexiconError:
                    continue  # a known entry of this part of speech has the spelling already
                found.append(finding)
        return found

    def _finding(self, name: str, part: PartOfSpeech, lexicon: Lexicon) -> InferredEntry:
        key = (name, part)
        counts = self.spellings[key]
        spellings = sorted(counts, key=lambda s: (-counts[s], s))
        title = name.replace(" ", "-")
        if title in lexicon:
            title = f"{title}-{part}"
        entry = Entry(title, part, self.roles[key], tuple(spellings))
        return InferredEntry(entry, sum(counts.values()), self.whys[key])

    def _other_arity(self, name: str, part: PartOfSpeech, roles: tuple[str, ...]) -> bool:
        earlier = self.roles.get((name, part))
        return earlier is not None and len(earlier) != len(roles)
