"""Which verb of a lexicon an event has, and which phrases fill its roles."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from wordsight.language.english.events import Event, Mention
from wordsight.language.english.index import LexiconIndex
from wordsight.language.english.words import PARTICLES, PATH_PREPOSITIONS, base_form, forms_of
from wordsight.language.lexicon import Entry, PartOfSpeech, Pattern

__all__ = ["VerbUse", "best_use", "sense_of", "synonymous_forms"]

Oblique = tuple[str, Mention, bool]


@dataclass
class VerbUse:
    """A verb of a lexicon as an event uses it.

    Attributes:
        entry: The verb; None if the lexicon has none that fits.
        slots: Per role after the first the phrases that fill it, empty if it is left open.
        rest: Prepositions that are not part of the verb.
        ignored: Words that the verb has no place for.
        guessed: Whether a particle or preposition of the verb was not said.
        value: How well it fits.
    """

    entry: str | None
    slots: list[list[Mention]]
    rest: list[Oblique]
    ignored: list[str] = field(default_factory=list)
    guessed: bool = False
    value: float = 0.0


@dataclass(frozen=True)
class _Phrasing:
    """A verb with its particles, and the preposition that its object takes."""

    verb: str
    particles: tuple[str, ...]
    preposition: str

    @classmethod
    def of(cls, text: str) -> "_Phrasing":
        verb, _, rest = text.partition(" ")
        if rest in PATH_PREPOSITIONS:
            return cls(verb, (), rest)
        particles = tuple(word for word in rest.split() if word in PARTICLES)
        return cls(verb, particles, " ".join(rest.split()[len(particles) :]))

    def says(self, event: Event) -> bool:
        """Whether an event is said so."""
        governed = [preposition for preposition, _, _ in event.obliques[:1]]
        return (
            base_form(event.verb or "", "V") == self.verb
            and tuple(event.particles) == self.particles
            and (not self.preposition or (not event.objects and governed == [self.preposition]))
        )

    def reworded(self, event: Event, other: "_Phrasing") -> Event:
        """Return an event that is said so as it is said in another way."""
        objects, obliques = list(event.objects), list(event.obliques)
        if self.preposition:
            objects = [obliques.pop(0)[1]]
        if other.preposition and objects:
            obliques.insert(0, (other.preposition, objects.pop(0), False))
        return replace(
            event,
            verb=other.verb,
            particles=list(other.particles),
            objects=objects,
            obliques=obliques,
        )


_SENSES = tuple(
    tuple(map(_Phrasing.of, line.split(",")))
    for line in (
        "pick up,take,grab,grasp,lift,lift up,pick,collect,take up",
        "take out,remove,pull out,bring out",
        "place,put,put down,set,set down,lay,lay down,put back,place back,set back",
        "open,open up",
        "close,shut",
        "drink,drink from,sip,sip from,drink out of",
        "eat,bite,chew,eat from,bite into",
        "clean,wipe,wash,wipe off,clean up",
        "hold,grip,hold on to",
        "reach,reach for,move to,move towards,go to",
        "approach,walk to,walk up to,come to,go to,go up to,walk towards,step up to",
        "leave,exit,depart,depart from,walk away,walk off,go away,walk away from,go away from",
        "enter,come in,walk in,go in,come into,walk into,go into",
        "sit down,sit",
        "stand up,get up,rise",
        "throw,toss,fling",
        "push,shove",
        "pull,drag",
        "give,hand,pass",
        "run,jog,sprint",
        "drive,ride",
        "turn,turn around,rotate",
    )
)
"""Verbs that may stand for each other where a lexicon lacks the one that is said. A lexicon file
extends it by spellings: ``picked-up : verb : picked up _ | snatched _``."""


_INSIDE = "bag,basket,bin,bottle,box,can,case,crate,drawer,jar,microwave,oven,pocket,pot,sack"
_ON = "bench,counter,floor,ground,plate,shelf,stack,table"
_GOALS = dict.fromkeys(_INSIDE.split(","), ("in", "into", "inside"))
_GOALS |= dict.fromkeys(_ON.split(","), ("on", "onto", "on top of"))
"""Nouns whose verb says where a thing is put, "to bin", with prepositions that may say so."""


def sense_of(entry: Entry) -> str:
    """Return a verb that means about the same as an entry, the same one for all that do."""
    words = [word for word in entry.patterns[0] if word is not None]
    said = _Phrasing.of(" ".join([base_form(words[0], "V"), *words[1:]]))
    found = next((sense[0].verb for sense in _SENSES if said in sense), None)
    return entry.name if found is None else found


def synonymous_forms(index: LexiconIndex) -> set[str]:
    """Return all forms of verbs that may stand for one that a lexicon has."""
    senses = (sense for sense in _SENSES if any(one.verb in index.verbs for one in sense))
    return {form for sense in senses for one in sense for form in forms_of(one.verb)}


def best_use(event: Event, index: LexiconIndex, *, synonyms: bool = True) -> VerbUse | None:
    """Return the verb with the most roles filled, or None if the lexicon has none that fits.

    Args:
        event: What is said.
        index: The lexicon.
        synonyms: Whether another verb that means about the same stands for one that it lacks, or
            a noun and a verb for a verb that is made from the noun.
    """
    own = list(_uses(event, index))
    exact = [use for use in own if not use.guessed]
    if synonyms and not exact:
        for others in (_reworded(event), _denominal(event, index)):
            uses = (use for other in others for use in _uses(other, index))
            found = [replace(use, guessed=True) for use in uses if not use.guessed]
            if found:
                own = found
                break
    return max(exact or own, key=lambda use: use.value, default=None)


def _reworded(event: Event) -> Iterator[Event]:
    for sense in _SENSES:
        for phrasing in (one for one in sense if one.says(event)):
            yield from (phrasing.reworded(event, other) for other in sense if other != phrasing)


def _denominal(event: Event, index: LexiconIndex) -> Iterator[Event]:
    """Say a verb that is made from a noun with that noun: "binned" is "put in the bin"."""
    base = base_form(event.verb or "", "V")
    names = (base, f"{base[:-2]}f") if base.endswith("ve") else (base,)  # "shelved"
    noun = next((name for name in names if name in _GOALS), None)
    if noun is None or index.noun((noun,), synonyms=False)[0] is None or event.particles:
        return
    goal = Mention([noun], marked=True)
    placing = next(sense for sense in _SENSES if sense[0].verb == "place")
    for preposition in _GOALS[noun]:
        known = index.simple(PartOfSpeech.SPATIAL_PREPOSITION, preposition) is not None
        for phrasing in placing:
            obliques = [(preposition, goal, True), *event.obliques]
            said = replace(
                event, verb=phrasing.verb, particles=list(phrasing.particles), obliques=obliques
            )
            # Without a word for where it goes, only half of it would be said.
            taken = any(preposition in pattern for _, pattern in index.verbs.get(phrasing.verb, ()))
            if known or taken:
                yield said


def _uses(event: Event, index: LexiconIndex) -> Iterator[VerbUse]:
    for entry, pattern in index.verbs.get(base_form(event.verb or "", "V"), []):
        use = _use(event, entry.name, pattern)
        if use is not None:
            yield use


def _use(event: Event, entry: str, pattern: Pattern) -> VerbUse | None:
    objects = _grouped(event.objects)
    particles, obliques = list(event.particles), list(event.obliques)
    use = VerbUse(entry, [], [])
    missing = 0
    for run, slot in _runs(pattern):
        taken = None if not run else next((o for o in obliques if o[0] == run), None)
        if slot and taken is None and obliques and run and run not in PARTICLES:
            taken, use.guessed = obliques[0], True  # "drank from" may be "drank using"
        if slot and taken is not None:
            obliques.remove(taken)
            use.slots.append([taken[1]])
            use.value += 4.0 if taken[0] == run else -1.0
            continue
        for word in run.split():
            if word in particles:
                particles.remove(word)
                use.value += 2.0
            else:
                missing += 1
        if slot and objects:
            use.slots.append(objects.pop(0))
            use.value += 2.0
        elif slot:
            use.slots.append([])
            use.value -= 1.5
    if missing and (particles or missing > 1):
        return None  # "put up" is not "put down"
    use.guessed = use.guessed or bool(missing)
    use.ignored = particles + [w for group in objects for m in group for w in m.words]
    use.rest = obliques
    use.value -= 2.5 * missing + 1.5 * len(particles) + 3.0 * len(objects) + 0.5 * len(obliques)
    return use


def _grouped(objects: list[Mention]) -> list[list[Mention]]:
    """Return objects with those joined by "and" together."""
    groups: list[list[Mention]] = []
    for mention in objects:
        if mention.joined and groups:
            groups[-1].append(mention)
        else:
            groups.append([mention])
    return groups


def _runs(pattern: Pattern) -> list[tuple[str, bool]]:
    """Return the words after the verb, each run with whether a slot follows it."""
    runs: list[tuple[str, bool]] = []
    words: list[str] = []
    for item in pattern[1:]:
        if item is None:
            runs.append((" ".join(words), True))
            words = []
        else:
            words.append(item)
    return [*runs, (" ".join(words), False)] if words else runs
