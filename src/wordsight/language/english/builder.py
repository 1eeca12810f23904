"""From tagged words to events; what does not fit is left over."""

from wordsight.language.english.events import (
    LINKS,
    Event,
    Mention,
    complete,
    give_voice,
    in_order,
    of_another,
    repeated,
)
from wordsight.language.english.paths import Tagged
from wordsight.language.english.words import (
    LIGHT_VERBS,
    NUMBERS,
    PLACES,
    SEEN,
    STAYING_ACTIVE,
    base_form,
    is_continuous,
    is_known,
    is_only_participle,
    is_participle,
    is_plural,
)

__all__ = ["EventBuilder"]

_NEW = frozenset(["a", "an", "another", "some", "one", "other"])
_DENIAL = frozenset(["nobody", "no one", "nothing", "none", "neither", "no"])
_UNNAMED = frozenset(
    ("something", "anything", "everything", "nothing", "what", "one", "one another", "each other")
)
_SAME = {"all over": "over", "on to": "onto", "toward": "towards", "upon": "on"}


class EventBuilder:
    """Collects events while tagged words pass."""

    def __init__(self, auxiliary: str = "") -> None:
        self.auxiliary = auxiliary  # of a question, taken from before the subject
        self.ignored: list[str] = []
        self.events: list[Event] = []
        self.begin("")

    def begin(self, link: str) -> None:
        """Begin a clause."""
        self.event = Event(link=link)
        self.mention: Mention | None = None
        self.last: Mention | None = None
        self.preposition: str | None = None
        self.passive = self.auxiliary == "be"
        self.is_helped = bool(self.auxiliary)  # by an auxiliary
        self.joined = False
        self.host: Mention | None = None  # what the last phrase says more of
        self.added: Mention | None = None  # joined by "and" to the phrase of a preposition
        self.gap: Mention | None = None  # what a relative clause is about
        self.is_owner = False  # of the subject of such a clause: "whose hat"
        self.has_own_subject = False  # which such a clause has: "that he carried"
        self.main: list[Mention] | None = None  # the subjects of the clause around it

    def take(self, item: Tagged) -> None:
        """Take the next word."""
        if item.state in ("d2", "n2") and not self.has_own_subject:
            if self.gap is None:
                self._relative(item)  # "the bottle he dropped"
            self.has_own_subject, self.is_owner = True, item.text == "whose"
        if item.tag in "DQP" and item.state in ("d0", "n0") and self.event.verb is not None:
            self.end_phrase()  # "after opening the door the man left"
            self.close()
            self.begin("and")
        handler = _HANDLERS.get(item.tag)
        if handler is None:
            if item.piece.is_word:
                self.ignored.append(item.text)
            return
        handler(self, item)

    def finished(self) -> list[Event]:
        """Return the events."""
        self.end_phrase()
        if self.preposition is not None and self.event.verb is not None:
            self.event.particles.append(self.preposition)  # "what is she drinking from?"
        elif self.preposition is not None:
            self.is_so(self.preposition)
        rest = self.event
        self.close()
        if not self.events and rest.obliques:
            self.events.append(rest)  # "next to the chair", and nothing else
        return in_order(self.events)

    def close(self) -> None:
        """End the current clause."""
        event = self.event
        self.event = Event()
        if self.events:
            complete(event, self.events[-1])
        if event.verb is None and not event.subjects and not event.objects:
            # "Then", or a leading phrase; what was collected belongs to the next clause.
            return
        give_voice(event)
        another = of_another(event)
        self.events += [event] if another is None else [event, another]

    # Phrases

    def phrase(self) -> Mention:
        """Return the phrase that is being read; begin one if there is none."""
        if self.mention is None:
            self.mention = Mention()
        return self.mention

    def end_phrase(self) -> None:
        """Put the phrase that was read where it belongs."""
        mention, self.mention = self.mention, None
        if mention is None:
            return
        event = self.event
        if not (mention.words or mention.pronoun or mention.marked) and event.verb is not None:
            about = (event.objects or event.subjects)[-1:]
            for one in about:
                one.adjectives += mention.adjectives  # "turns green"
            return
        mention.joined = self.joined
        preposition, self.preposition = self.preposition, None
        if preposition == "of" and self.last is not None and self.last.counts:
            one = self.last  # "one of the men", "a group of people"
            one.words, one.pronoun = mention.words, mention.pronoun
            one.adjectives += mention.adjectives
            one.plural = one.plural or mention.plural
            return
        if preposition == "in" and self.last is not None and mention.is_colour:
            self.last.adjectives += [*mention.adjectives, *mention.words]  # "a man in black"
            return
        modifies = event.verb is None or preposition == "of"
        others = event.obliques[-1:]
        if mention.joined and self.host is not None and self.last is not None and modifies:
            if mention.is_person == self.last.is_person:
                self.last = self.host  # "with a beard and glasses"
            else:
                preposition = None  # "a girl with a hat and a boy"
        if preposition is not None and modifies and self.last is not None:
            self.host = self.last
            self.last.relations.append((preposition, mention))
        elif preposition is not None and event.verb is None:
            event.obliques.append((preposition, mention, False))
        elif preposition is not None:
            after = bool(event.objects or event.obliques)
            event.obliques.append((preposition, mention, after))
        elif event.verb is None and self.has_own_subject and self.gap is not None:
            self.main = event.subjects
            event.subjects = [mention]
            event.objects = [] if self.is_owner else repeated([self.gap])
        elif event.verb is None:
            event.subjects.append(mention)
        elif mention.joined and any(m.is_person == mention.is_person for _, m, _ in others):
            event.obliques.append((others[0][0], mention, others[0][2]))
            self.added = mention
        else:
            event.objects.append(mention)
        self.last = mention
        self.joined = False

    def _determiner(self, item: Tagged) -> None:
        mention = self._fresh()
        mention.definite = item.text not in _NEW
        mention.marked = True
        if item.text in ("this", "that", "these", "those"):
            mention.plural = item.text in ("these", "those")

    def _fresh(self) -> Mention:
        if self.mention is not None and (self.mention.words or self.mention.pronoun):
            self.end_phrase()
        return self.phrase()

    def _number(self, item: Tagged) -> None:
        mention = self._fresh()
        mention.marked = True
        if item.text in _DENIAL:
            self.event.negated = True
        elif item.text in NUMBERS or item.text.isdecimal():
            mention.count = NUMBERS.get(item.text, None)
            if mention.count is None:
                mention.count = min(int(item.text[:4]), 10_000)
            mention.definite = item.text == "both"
        else:
            mention.plural = True

    def _adjective(self, item: Tagged) -> None:
        if item.state in ("v", "w", "n0") and self.mention is None:
            event = self.event
            about = event.objects or event.subjects
            if about:
                about[-1].adjectives.append(item.text)  # "is red", "pushes it open"
            else:
                self.ignored.append(item.text)
            return
        if self.mention is not None and self.mention.words:
            self.end_phrase()
            if self.last is not None:
                self.last.adjectives.append(item.text)
            return
        mention = self._fresh()
        if item.text == "other":
            mention.definite = False
        else:
            mention.adjectives.append(item.text)

    def _noun(self, item: Tagged) -> None:
        mention = self.phrase()
        if mention.pronoun:
            mention = self._fresh()
        if item.text in ("one", "other", "others") and not mention.words:
            mention.pronoun = "something"
            return
        if mention.words:
            mention.words.append(item.text)
        else:
            mention.words = [item.text]
        if mention.count == NUMBERS["both"] and mention.definite and not is_plural(item.text):
            mention.count = None  # "both the man and the woman"
        mention.plural = is_plural(item.text) or mention.plural

    def _pronoun(self, item: Tagged) -> None:
        if self.mention is not None and (self.mention.words or self.mention.pronoun):
            self.end_phrase()
        mention = self.phrase()
        mention.pronoun = "something" if item.text in _UNNAMED else item.text
        mention.plural = item.text in ("they", "them", "these", "those")
        if item.text in _DENIAL:
            self.event.negated = True
            mention.pronoun = "something" if item.text in ("nothing", "none") else "someone"

    # Verbs

    def _auxiliary_verb(self, item: Tagged) -> None:
        if self.event.verb is not None or self.event.objects:
            self.end_phrase()
            self.next_clause_of_head()
        self.end_phrase()
        self.passive = True

    def _helping_verb(self, item: Tagged) -> None:
        self.end_phrase()
        if self.event.verb is not None:
            self.next_clause_of_head()
        self.passive, self.is_helped = False, True

    def _verb(self, item: Tagged) -> None:
        if item.state[0] == "d":
            self.phrase().adjectives.append(item.text)  # "the parked car"
            return
        self.end_phrase()
        event = self.event
        form = is_continuous(item.text) or is_participle(item.text) or not is_known(item.text, "J")
        if event.verb is None and event.subjects and self.auxiliary == "be" and not form:
            event.subjects[-1].adjectives.append(item.text)  # "is the door open?"
            return
        if event.verb is not None:
            if base_form(event.verb, "V") in (SEEN if event.passive else LIGHT_VERBS) and (
                not event.objects
            ):
                self.ignored.append(event.verb)  # "starts to walk", "is seen walking"
                event.particles.clear()
                self.passive = False
            else:
                self.next_clause_of_head(item)
                event = self.event
        event.verb = item.text
        passive = self.passive or self.goes_on_passive(event)
        event.passive = passive and not is_continuous(item.text) and is_participle(item.text)
        self.last = None
        self.preposition = None

    def goes_on_passive(self, event: Event) -> bool:
        """Whether "was" is left out: "was lifted and carried away", "a plate taken out"."""
        if is_only_participle(event.verb or "") and event.subjects and not self.is_helped:
            return self.gap is None
        if event.subjects or not self.events or event.link not in ("and", "then"):
            return False
        return self.events[-1].passive and base_form(event.verb or "", "V") not in STAYING_ACTIVE

    def next_clause_of_head(self, item: Tagged | None = None) -> None:
        """Begin a clause about the subject, or what stands right before a participle."""
        event = self.event
        if self.preposition is not None and self.gap is not None and self.has_own_subject:
            # "The van he got out of is red"
            event.objects = [one for one in event.objects if one.words != self.gap.words]
            (head,) = repeated([self.gap])
            event.obliques.append((self.preposition, head, bool(event.objects)))
            self.preposition = None
        subjects = event.subjects if self.main is None else self.main
        if item is not None and self.gap is None and not is_continuous(item.text):
            # "The car parked at the corner drives off": what was read so far is a participle.
            event.passive = event.passive or event.is_participial
        if item is not None and self.last is not None and is_continuous(item.text):
            near = self.last.acts and any(self.last is one for _, one, _ in event.obliques)
            near = near or any(self.last is one for one in event.objects)
            # "Picked up the cup without looking at it": the subject goes on.
            subjects = [self.last] if near and self.preposition is None else subjects
        taken = item is not None and self.is_taken(item)
        if taken and self.last is not None:
            subjects = [self.last]
        without = self.preposition == "without"
        self.close()
        self.begin("while" if item is not None and is_continuous(item.text) else "")
        self.event.negated = without
        self.event.subjects, self.passive = repeated(subjects), taken

    def is_taken(self, item: Tagged) -> bool:
        """Whether a participle after an object says what was done to it: "the box taken from"."""
        has_object = any(self.last is one for one in self.event.objects)
        return has_object and item.state == "v" and is_participle(item.text) and not self.gap

    def _particle(self, item: Tagged) -> None:
        self.end_phrase()
        if self.event.verb is None:
            self.is_so(item.text)
            return
        if self.event.objects and self.event.particles[-1:] == ["back"]:
            self.ignored.append(self.event.particles.pop())  # "picks the bag back up"
        self.event.split = bool(self.event.objects)
        self.event.particles.append(item.piece.written)

    def is_so(self, word: str) -> None:
        """Take a particle after "is" as what something is: "the light is on"."""
        for one in (self.event.objects or self.event.subjects)[-1:]:
            one.adjectives.append(word)
            return
        self.ignored.append(word)

    def _preposition_word(self, item: Tagged) -> None:
        self.end_phrase()
        self.repeat_verb()
        if self.event.particles[-1:] == ["back"]:
            self.event.particles.pop()  # "put it back on the table" is to put it on the table
            self.ignored.append("back")
        self.preposition = _SAME.get(item.text, item.text)

    def repeat_verb(self) -> None:
        """Begin an event of its own for "and the cup" before another "on the table"."""
        before, added = self.event, self.added
        if added is None or not before.objects or before.obliques[-1][1] is not added:
            return
        before.obliques.pop()
        self.close()
        self.begin("and")
        self.event.verb, self.event.passive = before.verb, False
        self.event.particles = list(before.particles)
        self.event.subjects, self.event.objects = repeated(before.subjects), [added]
        added.joined = False
        self.last = added

    def _adverb(self, item: Tagged) -> None:
        if item.state[0] == "d":
            self.ignored.append(item.text)
            return
        self.end_phrase()
        self.event.adverbs.append(item.text)

    def _direction(self, item: Tagged) -> None:
        self.end_phrase()
        self.event.directions.append(item.text)

    def _place(self, item: Tagged) -> None:
        self.end_phrase()
        about = self.last or next(iter(self.event.objects[-1:] or self.event.subjects[-1:]), None)
        if about is None:
            self.ignored.append(item.text)
        else:
            about.adjectives.append(PLACES[item.text])

    def _negation(self, item: Tagged) -> None:
        self.end_phrase()
        if item.text == "without":
            self.ignored.append(item.text)
        self.event.negated = True

    # Joining

    def _joiner(self, item: Tagged) -> None:
        if item.state[0] == "d":
            return  # "black and white"
        before = self.preposition
        self.end_phrase()
        self.joined = True
        self.preposition = before if before is not None and self.event.verb is None else None

    def _connector(self, item: Tagged) -> None:
        self.end_phrase()
        link = LINKS.get(item.text, "and")
        if self.event.verb is None and not self.event.subjects and not self.event.objects:
            kept = self.event
            if link != "and":
                kept.link = link
            if not kept.link and self.events:
                kept.link = "and"
            return
        self.close()
        self.begin(link)

    def _relative(self, item: Tagged) -> None:
        self.end_phrase()
        head = self.last
        if head is None:
            return
        main = self.event
        self.gap = head
        if main.verb is None:
            # The clause about the subject comes first; the main verb follows as another event.
            main.link = main.link or ("and" if self.events else "")
            return
        self.close()
        self.begin("and")
        self.event.subjects = repeated([head])
        self.gap = head

    def _existence(self, item: Tagged) -> None:
        if self.event.verb is not None:
            self._adverb(item)

    def _infinitive(self, item: Tagged) -> None:
        self.end_phrase()
        self.last = None


_HANDLERS = {
    "D": EventBuilder._determiner,
    "Q": EventBuilder._number,
    "J": EventBuilder._adjective,
    "N": EventBuilder._noun,
    "P": EventBuilder._pronoun,
    "V": EventBuilder._verb,
    "X": EventBuilder._auxiliary_verb,
    "H": EventBuilder._helping_verb,
    "M": EventBuilder._helping_verb,
    "T": EventBuilder._particle,
    "R": EventBuilder._preposition_word,
    "A": EventBuilder._adverb,
    "G": EventBuilder._direction,
    "L": EventBuilder._place,
    "O": EventBuilder._negation,
    "C": EventBuilder._connector,
    "K": EventBuilder._joiner,
    "Z": EventBuilder._relative,
    "E": EventBuilder._existence,
    "I": EventBuilder._infinitive,
}
