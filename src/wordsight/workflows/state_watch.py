"""`StateWatch`: facts and events by rules of states, reported while a video goes on."""

import math
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wordsight.errors import WordsightError
from wordsight.workflows.state_inputs import (
    check_online,
    parse_kinds,
    read_events,
    read_rules,
    read_vocabulary,
)

if TYPE_CHECKING:
    from wordsight.meaning import SentenceHit
    from wordsight.records import Clip
    from wordsight.states.events.definitions import EventDefinition
    from wordsight.workflows.annotator import StateAnnotator

__all__ = ["StateWatch", "read_state_rules"]

_STATE_STEP = 0.4  # seconds between two looks at states
_STATE_LASTS = 0.3  # seconds that a state must last to be reported
_STATE_LIKELY = 0.5  # probability from which it is reported
_STATE_SAME = 1.0  # seconds by which what begins again is still the same
_NUMBER = re.compile(r"[-_ ]?\d+$")


class StateWatch:
    """Judges facts and events by rules while a video goes on, from what was seen until then.

    A fact is reported when it begins, an event when its last phase has begun, each after it has
    lasted a moment.

    Args:
        stated: The rules, and the kinds of labels.
        kinds: The kinds of events.
        wanted: What is watched for, such as ``attached(hand,_)`` or ``PICKUP``.

    Raises:
        WordsightError: If the rules cannot be used for live video, or know nothing of that name.
    """

    reach = 0.0
    """Seconds of the past beyond those of a watch; none."""

    def __init__(
        self, stated: "StateAnnotator", kinds: "Sequence[EventDefinition]", wanted: Sequence[str]
    ) -> None:
        check_online(stated.model)
        if stated.steady:
            raise WordsightError(
                "these rules take out the shake of the camera, which needs later frames; learn "
                "them with `wordsight states learn --online`."
            )
        self._stated, self._events = stated, tuple(kinds)
        sizes = {p.name: p.arity for p in stated.model.vocabulary_.predicates}
        sizes |= {kind.name: len(kind.variables) for kind in kinds}
        self._wanted = [(text, *_pattern(text, sizes)) for text in wanted]
        self._begun = self._looked = 0.0
        self._reported: dict[tuple[str, ...], float] = {}

    def probability(self, score: float) -> float:
        """Return the probability that a score, its log-odds, stands for."""
        return 1.0 / (1.0 + math.exp(-score))

    def prepare(self, clip: "Clip") -> None:
        """Judge a clip and report nothing, so that all that is needed for it is loaded."""
        self.look(clip)
        self._reported.clear()

    def begin(self, time: float) -> None:
        """Start over at a time."""
        self._begun = self._looked = time

    def due(self, now: float) -> bool:
        """Return whether it is time to look again."""
        return now >= self._looked + _STATE_STEP

    def release(self, _: float) -> "list[SentenceHit]":
        """Return nothing: no hit waits for another."""
        return []

    def look(self, clip: "Clip", *, ended: bool = False) -> "list[SentenceHit]":
        """Return what has begun since the last look."""
        from wordsight.meaning import SentenceHit
        from wordsight.states import StateObservations
        from wordsight.states.events.find import find_events

        self._looked = clip.end
        seen = clip.detections
        if seen.ids is None or not (seen.ids[seen.mask] >= 0).any():
            return []
        model = self._stated.model
        measured = StateObservations.from_clip(
            clip, kinds=self._stated.kinds, vocabulary=model.vocabulary_, causal=True
        )
        beliefs = model.believe(measured)  # of what was seen until now, which is all there is
        known = {thing.name: thing.kind for thing in measured.objects}
        found = [
            (row.fact.predicate, row.fact.arguments, row.start, row.start, row.end, row.probability)
            for row in beliefs.rows()
        ]
        events = find_events(beliefs.sequence, self._events) if self._events else ()
        sure = beliefs.event_probabilities(events, self._events)
        found += [
            (one.name, one.arguments, one.start, one.end, one.phases[-1][1], share)
            for one, share in zip(events, sure, strict=True)
        ]
        hits = []
        for text, name, terms in self._wanted:
            for what, arguments, start, end, until, share in sorted(found, key=lambda f: f[2]):
                fits = what == name and _fits(terms, arguments, known)
                lasted = until - end >= _STATE_LASTS or ended
                # What the window cuts off began before it, and was reported then.
                cut_off = start <= clip.start + _STATE_STEP and clip.start > self._begun
                likely = fits and share >= _STATE_LIKELY
                if not likely or not lasted or cut_off or self._is_known(text, arguments, start):
                    continue
                odds = math.log(max(share, 1e-6) / max(1 - share, 1e-6))
                proof = ((f"{what}({','.join(arguments)})", share),)
                moment = (clip.video_id, start, max(end, start + _STATE_LASTS))
                hits.append(SentenceHit(*moment, odds, text, True, proof))
        return hits

    def _is_known(self, text: str, arguments: tuple[str, ...], start: float) -> bool:
        """Whether this was reported; things get new numbers with each look, so labels count."""
        key = (text, *(_NUMBER.sub("", one) for one in arguments))
        last = self._reported.get(key)
        if last is not None and start <= last + _STATE_SAME:
            return True
        self._reported[key] = start
        return False


def _pattern(text: str, sizes: Mapping[str, int]) -> tuple[str, tuple[str, ...] | None]:
    """Read ``attached(hand,_)``; without arguments they may be anything."""
    name, _, rest = text.strip().removesuffix(".").partition("(")
    terms = tuple(part.strip() for part in rest.rstrip(")").split(",")) if rest else None
    if name not in sizes:
        raise WordsightError(
            f"the rules know nothing called {name}; they know {', '.join(sorted(sizes))}."
        )
    if terms is not None and len(terms) != sizes[name]:
        raise WordsightError(f"{name} has {sizes[name]} arguments, got {text}.")
    return name, terms


def _fits(
    terms: tuple[str, ...] | None, arguments: tuple[str, ...], kinds: Mapping[str, str]
) -> bool:
    """Whether things are those of a pattern, by name, label or kind; ``_`` is anything."""
    return terms is None or all(
        term in ("_", name, _NUMBER.sub("", name), kinds.get(name))
        for term, name in zip(terms, arguments, strict=True)
    )


def read_state_rules(
    rules: str, vocabulary: str | None, events: str | None, kinds: Sequence[str]
) -> "tuple[StateAnnotator, Sequence[EventDefinition]]":
    """Read rules of states and kinds of events.

    Args:
        rules: The folder of a learned model, or a file of rules.
        vocabulary: What declares the predicates of a file of rules.
        events: A file of kinds of events; the usual ones, if the rules know their predicates.
        kinds: The kinds of labels beyond those of the model, as LABEL=KIND.

    Raises:
        WordsightError: If one cannot be read.
    """
    from wordsight.states import StateError, StateModel
    from wordsight.states.events.definitions import leonard_events
    from wordsight.states.events.find import check_predicates
    from wordsight.workflows.annotator import StateAnnotator, load_state_annotator

    if Path(rules).is_dir():
        stated = load_state_annotator(Path(rules))
    elif vocabulary is None:
        raise WordsightError(
            f"--rules takes the folder of a learned model, which {rules} is not, or a file "
            "of rules together with --vocabulary FILE."
        )
    else:
        declared = read_vocabulary(vocabulary)
        stated = StateAnnotator(StateModel(read_rules(rules), vocabulary=declared))
    stated = replace(stated, kinds=stated.kinds | parse_kinds(kinds))
    known = stated.model.vocabulary_
    if events is not None:
        wanted = read_events(events)
        check_predicates(wanted, known)
        return stated, wanted
    with suppress(StateError):
        check_predicates(leonard_events(), known)
        return stated, leonard_events()
    return stated, ()
