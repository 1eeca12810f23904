"""What was read of a text, as one line: ``who? not pick up(man; bottle; from table) then ...``."""

from wordsight.language.english.events import resolve_pronouns
from wordsight.language.english.reading import read_events
from wordsight.language.english.words import base_form


def canonical(text):
    """Return what is read of a text by itself."""
    reading = read_events(text)
    resolve_pronouns(reading, [])
    asked = f"{reading.question}? " if reading.question else ""
    return asked + " ".join(_event(event) for event in reading.events)


def _event(event):
    verb = base_form(event.verb, "V") if event.verb else "be"
    name = " ".join([verb, *event.particles])
    roles = [_joined(event.subjects), _joined(event.objects)]
    roles += [f"{word} {_mention(mention)}" for word, mention, _ in event.obliques]
    roles += [*event.adverbs, *event.directions]
    denied = "not " if event.negated else ""
    link = f"{event.link} " if event.link else ""
    return f"{link}{denied}{name}({'; '.join(roles)})"


def _joined(mentions):
    return " + ".join(map(_mention, mentions)) or "-"


def _mention(mention):
    words = [*mention.words[:-1], mention.head] if mention.words else [mention.pronoun or "-"]
    count = f"{mention.count} " if mention.count else ""
    inner = "".join(f" [{word} {_mention(one)}]" for word, one in mention.relations)
    return ("?" if mention.focus else "") + count + " ".join([*mention.adjectives, *words]) + inner
