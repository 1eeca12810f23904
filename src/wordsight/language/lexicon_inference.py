"""Inferring a lexicon from how words are used, for a corpus without one.

The papers are given every word's part of speech. The guide on language describes what can be
inferred and what cannot.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from wordsight.language.errors import LanguageError, LexiconError
from wordsight.language.lexicon import SLOT, Entry, Lexicon, PartOfSpeech
from wordsight.language.parser import parse
from wordsight.language.usage import (
    CLAUSE_WORDS,
    DESCRIPTIVE_ADJECTIVES,
    PARTICLES,
    PATH_PREPOSITIONS,
    PLACE_PREPOSITIONS,
    Symbol,
    Usage,
    certain_nouns,
    read_usage,
    symbols_of,
)
from wordsight.records import Sentence

__all__ = ["InferredEntry", "InferredLexicon", "infer_lexicon"]


@dataclass(frozen=True)
class InferredEntry:
    """One inferred entry.

    Attributes:
        entry: The entry.
        count: Number of sentences that support it.
        reason: The evidence in a few words.
    """

    entry: Entry
    count: int
    reason: str


@dataclass(frozen=True)
class InferredLexicon:
    """The lexicon of a corpus, with what was inferred.

    Attributes:
        lexicon: The given entries and the inferred ones.
        findings: The inferred entries with their evidence, in the order of parts of speech.
        unread: Sentences that still cannot be parsed, each with the reason.
    """

    lexicon: Lexicon
    findings: tuple[InferredEntry, ...]
    unread: tuple[tuple[str, str], ...]

    def report(self) -> str:
        """Return a table of the inferred entries."""
        lines = [f"{len(self.findings)} entries inferred from how they are used:"]
        for finding in self.findings:
            entry = finding.entry
            roles = f"{entry.part} ({', '.join(entry.roles)})"
            spellings = " | ".join(entry.spellings)
            shown = f"  {entry.name:<18} {roles:<34} {finding.count:>5}x  {spellings}"
            lines.append(f"{shown}  [{finding.reason}]")
        if self.unread:
            lines.append(f"{len(self.unread)} sentences could not be read, for example:")
            lines += [f"  {text}\n    {reason.splitlines()[0]}" for text, reason in self.unread[:3]]
        return "\n".join(lines)


def infer_lexicon(
    sentences: Iterable[str | Sentence], lexicon: Lexicon | None = None
) -> InferredLexicon:
    """Infer part of speech, arity and spelling of unknown words from how they are used.

    A word after a determiner is a noun. Words before it are adjectives if they occur with other
    nouns, if the noun occurs without them, or if they are known words for colour, size and shape.
    The word after the subject is the verb, with the particles and prepositions right after it. A
    preposition before the verb is spatial; one after the object belongs to the verb if only that
    verb takes it, else it is a motion preposition. Words in "ly" are adverbs.

    Args:
        sentences: The corpus; the more uses of a word, the more reliable the result.
        lexicon: Known entries; they are kept and help to parse the rest.

    Returns:
        The lexicon with the evidence for each new entry and the sentences that cannot be parsed.
    """
    known = Lexicon() if lexicon is None else lexicon
    texts = [s.text if isinstance(s, Sentence) else s for s in sentences]
    unknown = {text for text in set(texts) if _reason_unread(text, known) is not None}
    remaining = [text for text in texts if text in unknown]
    evidence = _Evidence(known)
    for usage, count in _usages(remaining, known):
        evidence.add(usage, count)
    findings = evidence.findings()
    wider = known.extended(finding.entry for finding in findings)
    counted = Counter(remaining)
    reasons = {text: _reason_unread(text, wider) for text in counted}
    unread = tuple((text, reason) for text, reason in reasons.items() if reason is not None)
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
    """Counts of uses over the corpus, and the entries they support."""

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
        """Return the inferred entries."""
        found = _Collected(self.known)
        self._add_nouns(found)
        reasons = {
            PartOfSpeech.ADJECTIVE: "qualifies nouns",
            PartOfSpeech.ADVERB: "ends in 'ly'",
            PartOfSpeech.DIRECTION: "a direction of English",
        }
        for part, reason in reasons.items():
            for word, count in self.simple[part].items():
                found.add(word, part, part.default_roles, word, count, reason)
        self._add_prepositions_and_verbs(found)
        return found.findings()

    def _add_nouns(self, found: "_Collected") -> None:
        alone = {phrase[0] for phrase in self.phrases if len(phrase) == 1}
        nouns_of: dict[str, set[str]] = defaultdict(set)
        for *others, noun in self.phrases:
            for other in others:
                nouns_of[other].add(noun)
        for (*others, noun), count in self.phrases.items():
            # A word that always occurs with the same noun, and the noun with it, is part of a name,
            # unless it is a known adjective: few corpora have contrasting examples for all.
            free = DESCRIPTIVE_ADJECTIVES if noun not in alone else set(others)
            adjectives = [o for o in others if o in free or len(nouns_of[o]) > 1]
            name = " ".join([*(o for o in others if o not in adjectives), noun])
            found.add(name, PartOfSpeech.NOUN, ("any",), name, count, "follows a determiner")
            for other in adjectives:
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
        reason = "follows the subject"
        found.add(name, PartOfSpeech.VERB, roles[: slots + 1], " ".join(pattern), count, reason)

    def _kinds_of_prepositions(self) -> dict[str, PartOfSpeech]:
        """Return the part of speech of prepositions that do not belong to a verb."""
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
        """Return the verbs that take each preposition after their object."""
        verbs_of: dict[str, set[str]] = defaultdict(set)
        for verb, after in self.frames:
            for place in range(len(after) - 1):
                if after[place] != SLOT and after[place + 1] == SLOT:
                    verbs_of[after[place]] |= {verb} if SLOT in after[:place] else set()
        return verbs_of

    def _belongs(self, verb: str, before: tuple[str, ...], preposition: str) -> bool:
        """Whether a preposition right after a verb is part of it: "reached for"."""
        if before or tuple(preposition.split()) in PATH_PREPOSITIONS:
            return False
        return all(after[:1] == (preposition,) for other, after in self.frames if other == verb)


class _Collected:
    """Spellings and counts of entries by name and part of speech."""

    def __init__(self, known: Lexicon) -> None:
        self.known = known
        self.roles: dict[tuple[str, PartOfSpeech], tuple[str, ...]] = {}
        self.spellings: dict[tuple[str, PartOfSpeech], Counter[str]] = defaultdict(Counter)
        self.reasons: dict[tuple[str, PartOfSpeech], str] = {}

    def add(
        self,
        name: str,
        part: PartOfSpeech,
        roles: tuple[str, ...],
        spelling: str,
        count: int,
        reason: str,
    ) -> None:
        key = (f"{name} {len(roles)}" if self._other_arity(name, part, roles) else name, part)
        self.roles.setdefault(key, roles)
        self.reasons.setdefault(key, reason)
        self.spellings[key][spelling] += count

    def preposition(self, name: str, part: PartOfSpeech, count: int, reason: str) -> None:
        self.add(name, part, part.default_roles, name, count, reason)

    def findings(self) -> list[InferredEntry]:
        """Return the entries that are not in the known lexicon, by part of speech and name."""
        found: list[InferredEntry] = []
        lexicon = self.known
        for part in PartOfSpeech:
            for name in sorted(n for n, p in self.spellings if p is part):
                finding = self._finding(name, part, lexicon)
                try:
                    lexicon = lexicon.extended([finding.entry])
                except LexiconError:
                    continue  # another entry of this part of speech has the spelling
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
        return InferredEntry(entry, sum(counts.values()), self.reasons[key])

    def _other_arity(self, name: str, part: PartOfSpeech, roles: tuple[str, ...]) -> bool:
        earlier = self.roles.get((name, part))
        return earlier is not None and len(earlier) != len(roles)
