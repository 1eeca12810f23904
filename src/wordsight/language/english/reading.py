"""From a text to events; what does not fit stays in `Reading.ignored`."""

from dataclasses import replace

from wordsight.language.english.builder import EventBuilder
from wordsight.language.english.events import Reading
from wordsight.language.english.noun_signs import qualifies
from wordsight.language.english.questions import strip_question
from wordsight.language.english.tagging import CorpusUses, Uses, tag
from wordsight.language.english.words import uses_of
from wordsight.language.glosses import language_of, open_uses
from wordsight.language.tokens import pieces_of, tokens_of

__all__ = ["read_events"]


def read_events(
    text: str,
    uses: Uses = uses_of,
    phrases: frozenset[tuple[str, ...]] = frozenset(),
    foreign: frozenset[str] = frozenset(),
) -> Reading:
    """Read a text into events.

    Args:
        text: A sentence, a question, a bare phrase, or several clauses.
        uses: The possible uses of a word with their costs.
        phrases: Words to keep together, such as nouns of several words.
        foreign: Words of the same language, if that is known not to be English.

    Raises:
        LanguageError: If there is no word in it, or too many.
    """
    if isinstance(uses, CorpusUses):
        language = uses.language
    else:
        language = language_of(tokens_of(text), foreign=foreign)
    if language is not None and not isinstance(uses, CorpusUses):
        uses = open_uses(uses)
    pieces = pieces_of(text, phrases, language)
    asked = strip_question(pieces, uses)
    tagged, cost = tag(asked.pieces, uses) if asked.pieces else ([], 0.0)
    builder = EventBuilder(asked.auxiliary)
    before = ""
    for item in tagged:
        if item.tag == "A" and before and qualifies(language, before, item.text):
            item = replace(item, tag="J")
        builder.take(item)
        before = item.text if item.tag == "N" else ""
    reading = Reading(text, builder.finished(), None, asked.ignored + builder.ignored, [], cost)
    if asked.kind:
        reading.question = asked.kind
        asked.complete(reading.events)
    return reading
