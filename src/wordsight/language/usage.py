"""How the words of a corpus are used, and the entries of a lexicon that this supports."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from wordsight.errors import LexiconError
from wordsight.language.english.events import Event
from wordsight.language.english.index import index_of, noun_key
from wordsight.language.english.verbs import best_use
from wordsight.language.english.words import (
    KINDS,
    MANNERS,
    PARTICLES,
    PATH_PREPOSITIONS,
    PLACE_PREPOSITIONS,
    TIMES,
    base_form,
    is_known,
    kind_of,
)
from wordsight.language.lexicon import SLOT, Entry, Lexicon, PartOfSpeech
from wordsight.language.tokens import split_words
from wordsight.records import BODY_PARTS

__all__ = ["InferredEntry", "UsageEvidence"]

_MOSTLY = 0.9  # share of a verb's uses from which a preposition that others take is part of it
_OFTEN = 0.05  # the same of a preposition that no other verb takes
_ALIKE = 0.6  # cosine of what two verbs occur with, from which they may mean the same


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


class UsageEvidence:
    """Counts of uses over the corpus, and the entries they support.

    Args:
        known: The given lexicon.
        synonyms: Whether what one of its words can stand for gets no entry of its own.
    """

    def __init__(self, known: Lexicon, *, synonyms: bool = False) -> None:
        self.known = known
        self.take_synonyms = synonyms
        self.phrases: Counter[tuple[tuple[str, ...], tuple[str, ...]]] = Counter()
        self.marked: Counter[str] = Counter()
        self.inside: Counter[str] = Counter()
        self.simple: dict[PartOfSpeech, Counter[str]] = defaultdict(Counter)
        self.placing: Counter[tuple[str, str | None]] = Counter()
        self.frames: dict[tuple[str, tuple[str, ...]], Counter[str]] = defaultdict(Counter)
        self.company: dict[str, Counter[str]] = defaultdict(Counter)
        self.governed: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        self.acted: Counter[str] = Counter()
        self.unknown: list[str] = []

    def add(self, event: Event) -> None:
        """Count the words of an event."""
        if event.verb is None and not any(m.words or m.pronoun for m in event.mentions):
            return  # "of the"
        for mention in event.mentions:
            for preposition, inner in mention.relations:
                if preposition != "of":
                    self.placing[preposition, inner.head] += 1
                if preposition in ("in", "with", "of"):
                    self.inside[inner.head or ""] += 1
            if mention.words:
                self.phrases[tuple(mention.words), tuple(mention.adjectives)] += 1
                self.marked[mention.head or ""] += mention.marked
        for part, words in (
            (PartOfSpeech.ADVERB, event.adverbs),
            (PartOfSpeech.DIRECTION, event.directions),
        ):
            for word in words:
                if part is PartOfSpeech.DIRECTION or _says_how(word):
                    self.simple[part][word] += 1
        if event.verb is None:
            for preposition, mention, _ in event.obliques:
                self.placing[preposition, mention.head] += 1
            return
        verb = base_form(event.verb, "V")
        if best_use(event, index_of(self.known), synonyms=self.take_synonyms) is not None:
            return  # the given lexicon can say it
        self.frames[verb, tuple(_after_verb(event))][event.verb] += 1
        self.acted.update(mention.head or "" for mention in (*event.subjects, *event.objects))
        for preposition, mention, _ in event.obliques:
            self.governed[verb, preposition][mention.head or ""] += 1
        company = self.company[" ".join([verb, *event.particles])]
        company.update(f"object {mention.head}" for mention in event.objects)
        company.update(f"{word} {mention.head}" for word, mention, _ in event.obliques)

    def synonyms(self) -> list[str]:
        """Return pairs of verbs with the same objects and prepositions."""
        verbs = sorted(verb for verb, seen in self.company.items() if seen.total() > 2)
        return [
            f"{one} ~ {other}"
            for one, other in combinations(verbs, 2)
            if _likeness(self.company[one], self.company[other]) >= _ALIKE
        ]

    def findings(self) -> list[InferredEntry]:
        """Return the inferred entries."""
        found = _Collected(self.known)
        self._add_nouns(found)
        self._forget_unknown_places()
        reasons = {
            PartOfSpeech.ADJECTIVE: "qualifies nouns",
            PartOfSpeech.ADVERB: "says how",
            PartOfSpeech.DIRECTION: "a direction of English",
        }
        for part, reason in reasons.items():
            for word, count in self.simple[part].items():
                found.add(word, part, part.default_roles, word, count, reason)
        self._add_prepositions_and_verbs(found)
        return found.findings()

    def _forget_unknown_places(self) -> None:
        unknown = {base_form(word, "N") for word in self.unknown}
        for preposition, noun in list(self.placing):
            if noun in unknown:
                del self.placing[preposition, noun]

    def _add_nouns(self, found: "_Collected") -> None:
        counts: Counter[str] = Counter()
        runs: Counter[tuple[str, ...]] = Counter()
        for (words, _), count in self.phrases.items():
            runs[noun_key(split_words(" ".join(words)))] += count
            counts[base_form(words[-1], "N")] += count
        shared = self._shared_kinds(runs)
        for (words, adjectives), count in self.phrases.items():
            run = split_words(" ".join(words))
            if self.take_synonyms and index_of(self.known).noun(words)[0] is not None:
                continue
            if not self._is_noun(words[-1], counts):
                self.unknown.append(words[-1])
                continue
            for word in adjectives:
                if is_known(word, "J") or is_known(word, "V") or count > 1:
                    self.simple[PartOfSpeech.ADJECTIVE][word] += count
                else:
                    self.unknown.append(word)
            name = " ".join(noun_key(run))
            spelling = " ".join(words)
            if (
                len(run) > 1
                and "-" not in spelling
                and runs[noun_key(run)] < 2
                and run[-1:] in runs
            ):
                # A pair of nouns that is used once, and whose second noun is used alone.
                name, spelling = noun_key(run)[-1], run[-1]
            reason = "names what takes part"
            kind = kind_of(name)
            entry = None if kind is None else index_of(self.known).of_kind(kind)
            if entry is not None and entry.name == kind:
                continue  # the given lexicon names the kind
            if kind in shared:
                name, reason = str(kind), f"names a {kind}"
                # The kind itself is the preferred spelling, whatever is said of it.
                found.add(name, PartOfSpeech.NOUN, ("any",), name, 0, reason)
            found.add(name, PartOfSpeech.NOUN, ("any",), spelling, count, reason)

    def _shared_kinds(self, runs: Iterable[tuple[str, ...]]) -> set[str]:
        """Return kinds that several nouns name: "man" and "woman" are people."""
        nouns: dict[str, set[str]] = defaultdict(set)
        for *_, noun in runs:
            kind = kind_of(noun)
            if kind is not None:
                nouns[kind].add(noun)
        index = index_of(self.known)
        return {k for k, named in nouns.items() if len(named) > 1 and index.of_kind(k) is None}

    def _is_noun(self, word: str, counts: Counter[str]) -> bool:
        base = base_form(word, "N")
        if self.inside[base] and counts[base] < 2:
            return False  # "a woman in a grey dress": said once, of something else
        return is_known(word, "N") or counts[base] > 1 or self.marked[base] > 0

    def _add_prepositions_and_verbs(self, found: "_Collected") -> None:
        kinds = self._kinds_of_prepositions()
        totals: Counter[str] = Counter()
        for (verb, _), forms in self.frames.items():
            totals[verb] += sum(forms.values())
        for (preposition, _), count in self.placing.items():
            found.preposition(preposition, PartOfSpeech.SPATIAL_PREPOSITION, count, "places a noun")
        for (verb, after), forms in self.frames.items():
            pattern: list[str] = []
            skip = False
            count = sum(forms.values())
            shown = any(is_known(form, "V") for form in forms) or bool(after)  # "geht weg"
            if not shown and count < 2:
                self.unknown.append(verb)
                continue
            for place, item in enumerate(after):
                governs = place + 1 < len(after) and after[place + 1] == SLOT
                part = kinds.get(item) if governs else None
                if skip:
                    skip = False
                elif governs and not self._belongs(verb, after[:place], item, kinds):
                    if part is not None:
                        found.preposition(item, part, count, "used with several verbs or nouns")
                    skip = True
                else:
                    pattern.append(item)
            for form, times in forms.items():
                self._add_verb(found, verb, [form, *pattern], times)

    def _add_verb(self, found: "_Collected", verb: str, pattern: list[str], count: int) -> None:
        name = " ".join([verb, *(item for item in pattern[1:] if item != SLOT)])
        slots = pattern.count(SLOT)
        direct = all(item == SLOT or item in PARTICLES for item in pattern[1:2])
        first = ("agent", "patient", "goal") if direct else ("agent", "goal", "patient")
        roles = first + tuple(f"goal{number}" for number in range(2, slots))
        reason = "says what happens"
        found.add(name, PartOfSpeech.VERB, roles[: slots + 1], " ".join(pattern), count, reason)

    def _kinds_of_prepositions(self) -> dict[str, PartOfSpeech]:
        """Return the part of speech of prepositions that do not belong to a verb."""
        kinds: dict[str, PartOfSpeech] = {
            spelling: entry.part
            for entry in self.known
            if entry.part.takes_slots and entry.part is not PartOfSpeech.VERB
            for spelling in entry.spellings
        }
        for preposition in self._verbs_of_prepositions:
            placed = any(preposition == one for one, _ in self.placing)
            if placed or preposition in PLACE_PREPOSITIONS:
                kinds.setdefault(preposition, PartOfSpeech.SPATIAL_PREPOSITION)
            elif preposition in PATH_PREPOSITIONS:
                kinds.setdefault(preposition, PartOfSpeech.MOTION_PREPOSITION)
        return kinds

    @cached_property
    def _verbs_of_prepositions(self) -> dict[str, set[str]]:
        """Return the verbs that take each preposition after their object."""
        verbs_of: dict[str, set[str]] = defaultdict(set)
        for verb, after in self.frames:
            for place in range(len(after) - 1):
                if after[place] != SLOT and after[place + 1] == SLOT:
                    verbs_of[after[place]] |= {verb} if SLOT in after[:place] else set()
        return verbs_of

    def _belongs(
        self,
        verb: str,
        before: tuple[str, ...],
        preposition: str,
        kinds: Mapping[str, PartOfSpeech],
    ) -> bool:
        """Whether a preposition is part of a verb: "reached for", "poured _ into _".

        Otherwise it is a word of its own, or, where its kind says neither a side nor a path, a
        detail that is left out: "on the table" is true of most that happens at a table.
        """
        if preposition in PATH_PREPOSITIONS:
            return False
        always = all(after[:1] == (preposition,) for other, after in self.frames if other == verb)
        if SLOT not in before:
            return always or preposition not in kinds
        if preposition in kinds:
            return False
        shared = len(self._verbs_of_prepositions.get(preposition, ())) > 1
        often = self._share(verb, preposition) >= (_MOSTLY if shared else _OFTEN)
        return often and self._governs_things(verb, preposition)

    def _governs_things(self, verb: str, preposition: str) -> bool:
        """Whether what mostly follows a preposition is more than the place of all that happens.

        One pours into bowls, with which something is done, too; things are picked up from, opened
        on and put on the table. Hands are part of the agent.
        """
        governed = self.governed[verb, preposition]
        others: Counter[str] = Counter()
        for noun in (n for (other, _), row in self.governed.items() if other != verb for n in row):
            others[noun] += not self.acted[noun]
        places = (n for n in governed if others[n] > 1 or n in BODY_PARTS)
        return 2 * sum(governed[noun] for noun in places) < governed.total()

    def _share(self, verb: str, preposition: str) -> float:
        """Return the share of a verb's uses that have a preposition."""
        counts = Counter[bool]()
        for (other, after), forms in self.frames.items():
            if other == verb:
                counts[preposition in after] += forms.total()
        return counts[True] / max(1, counts.total())


def _after_verb(event: Event) -> list[str]:
    """Return what follows the verb: ``_`` for a noun phrase, else a particle or preposition."""
    objects = [SLOT] * sum(not (m.joined and n) for n, m in enumerate(event.objects))
    first = [*objects, *event.particles] if event.split else [*event.particles, *objects]
    rest = [item for preposition, _, _ in event.obliques for item in (preposition, SLOT)]
    return first + rest


def _says_how(word: str) -> bool:
    """Whether an adverb says how: by its ending, by a table, or in another language."""
    if " " in word and set(word.split()) & TIMES:
        return False  # "after a few seconds"
    return word.endswith("ly") or word in MANNERS or not is_known(word, "A")


def _likeness(one: Counter[str], other: Counter[str]) -> float:
    """Return the cosine of two counts."""
    shared = sum(one[key] * other[key] for key in one)
    sizes = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return float(shared / max(sizes, 1) ** 0.5)


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
        kind = part is PartOfSpeech.NOUN and name in KINDS
        spellings = sorted(counts, key=lambda s: (kind and s != name, -counts[s], s))
        title = "-".join(word for word in spellings[0].split() if word != SLOT)
        if name[-1].isdigit():
            title += f"-{len(self.roles[key])}"
        if title in lexicon:
            title = f"{title}-{part}"
        entry = Entry(title, part, self.roles[key], tuple(spellings))
        return InferredEntry(entry, sum(counts.values()), self.reasons[key])

    def _other_arity(self, name: str, part: PartOfSpeech, roles: tuple[str, ...]) -> bool:
        earlier = self.roles.get((name, part))
        return earlier is not None and len(earlier) != len(roles)
