"""Inferring a lexicon from how words are used, for a corpus without one.

The papers are given every word's part of speech. The guide on language describes what can be
inferred and what cannot.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from wordsight.errors import LanguageError
from wordsight.language.english.binding import require_few, understand_reading
from wordsight.language.english.events import Mention, Reading, resolve_pronouns
from wordsight.language.english.index import index_of
from wordsight.language.english.reading import read_events
from wordsight.language.english.tagging import uses_in_corpus
from wordsight.language.lexicon import Lexicon
from wordsight.language.parser import parse
from wordsight.language.usage import InferredEntry, UsageEvidence
from wordsight.records import Sentence

__all__ = ["InferredEntry", "InferredLexicon", "infer_lexicon"]

_LONG = 600  # characters of a sentence that the grammar of a lexicon is tried on


@dataclass(frozen=True)
class InferredLexicon:
    """The lexicon of a corpus, with what was inferred.

    Attributes:
        lexicon: The given entries and the inferred ones.
        findings: The inferred entries with their evidence, in the order of parts of speech.
        unread: Sentences that still cannot be read, each with the reason.
        sentences: Per text of the corpus what it says in these words, a sentence per event; empty
            if it cannot be read.
        guesses: What pronouns were taken for.
        ignored: Words and phrases that were left out of sentences that are read.
        unknown: Words that stay unknown: used once, in an odd place or inside another phrase.
        synonyms: Verbs that are used alike, each as "place ~ put"; they stay two entries.
    """

    lexicon: Lexicon
    findings: tuple[InferredEntry, ...]
    unread: tuple[tuple[str, str], ...]
    sentences: tuple[tuple[Sentence, ...], ...] = ()
    guesses: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    synonyms: tuple[str, ...] = ()

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
    sentences: Iterable[str | Sentence],
    lexicon: Lexicon | None = None,
    *,
    videos: Sequence[str] | None = None,
    synonyms: bool = False,
) -> InferredLexicon:
    """Infer part of speech, arity and spelling of unknown words from how they are used.

    Every sentence is read into events (:mod:`wordsight.language.english`), and the events are
    counted. All forms of a verb or noun are one entry, which has the name of its most frequent
    form. A preposition after the object belongs to the verb if only that verb takes it. A word
    that no dictionary has, that is used once and that no determiner marks stays unknown.

    Args:
        sentences: The corpus; the more uses of a word, the more reliable the result.
        lexicon: Known entries; they are kept and help to read the rest.
        videos: Per sentence the video it is about; pronouns refer to what was said of the same one.
        synonyms: Whether a new word is taken for a known one that means about the same ("take" for
            "pick up", "fruit" for "apple"), as in queries, instead of being a word of its own.

    Returns:
        The lexicon with the evidence for each new entry, and the sentences that cannot be read.
    """
    known = Lexicon() if lexicon is None else lexicon
    texts = [s.text if isinstance(s, Sentence) else s for s in sentences]
    readings = _readings(texts, known, videos)
    evidence = UsageEvidence(known, synonyms=synonyms)
    for text, reading in readings:
        if reading is None or reading.question is not None:
            continue
        read = _in_words(text, reading, known, synonyms)
        if isinstance(read, str) or read[2]:  # something of it is new
            for event in reading.events:
                if not event.negated:
                    evidence.add(event)
    findings = evidence.findings()
    wider = known.extended(finding.entry for finding in findings)
    said = tuple(_in_words(text, reading, wider, synonyms) for text, reading in readings)
    # What is only named in phrases that are left out has nothing to be learned from.
    used = {w.entry for one in said if not isinstance(one, str) for s in one[0] for w in s.words}
    findings = [finding for finding in findings if finding.entry.name in used]
    wider = known.extended(finding.entry for finding in findings)
    unread = {t: r for (t, _), r in zip(readings, said, strict=True) if isinstance(r, str)}
    return InferredLexicon(
        wider,
        tuple(findings),
        tuple(unread.items()),
        tuple(() if isinstance(one, str) else one[0] for one in said),
        tuple(dict.fromkeys(g for one in said if not isinstance(one, str) for g in one[1])),
        tuple(dict.fromkeys(w for one in said if not isinstance(one, str) for w in one[2])),
        tuple(dict.fromkeys(evidence.unknown)),
        tuple(evidence.synonyms()),
    )


def _strictly_read(text: str, lexicon: Lexicon) -> Sentence | None:
    try:
        return parse(text, lexicon) if len(lexicon) and len(text) < _LONG else None
    except LanguageError:
        return None


def _readings(
    texts: list[str], lexicon: Lexicon, videos: Sequence[str] | None
) -> list[tuple[str, Reading | None]]:
    """Read all texts, each with what was said of its video before."""
    index = index_of(lexicon)
    uses = uses_in_corpus(texts, index.uses, index.phrases)
    said: dict[str, list[Mention]] = defaultdict(list)
    found: list[tuple[str, Reading | None]] = []
    for number, text in enumerate(texts):
        try:
            reading = read_events(text, uses, uses.phrases)
        except LanguageError:
            found.append((text, None))
            continue
        resolve_pronouns(reading, said[videos[number]] if videos is not None else [])
        found.append((text, reading))
    return found


def _in_words(
    text: str, reading: Reading | None, lexicon: Lexicon, synonyms: bool
) -> tuple[tuple[Sentence, ...], tuple[str, ...], tuple[str, ...]] | str:
    """Return the sentences of a text, guesses and words left out; or why it cannot be read."""
    strict = _strictly_read(text, lexicon)
    try:
        if strict is not None:
            return (require_few(strict),), (), ()
        understood = understand_reading(reading or read_events(text), lexicon, synonyms=synonyms)
        return understood.happened(), understood.guesses, understood.ignored
    except LanguageError as error:
        return str(error)
