"""Answering queries: questions, denials and events in an order, from the scores of sentences.

Who and what are named by the noun that makes the sentence most likely; how many are counted by
finding a participant, taking its boxes out of the clip and looking again.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.language import PartOfSpeech, Statement, Understood
from wordsight.language.english.index import index_of
from wordsight.meaning.checks import require_clip
from wordsight.meaning.model.lexicon import LearnedLexicon
from wordsight.meaning.tasks.clip import track
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.meaning.tasks.search import Windows, search
from wordsight.records import Clip, Sentence, Word

__all__ = ["Answer", "Participant", "answer", "find", "joined_moments", "probability", "sum_up"]

_MOST_COUNTED = 8  # participants of one clip
_PER_EVENT = 16  # moments of each event that are put in order
_COVERED = 0.5  # overlap from which a box is one of a participant that was counted


@dataclass(frozen=True, eq=False)
class Participant:
    """Who or what was asked for, at one moment.

    Attributes:
        video_id: The video.
        start: Start of the moment in seconds.
        end: Its end.
        name: The noun that fits best; empty if the lexicon has none that fits the kind.
        probability: How sure: that the sentence is true and that this is the noun.
        times: ``(T,)`` seconds of the frames in which it is seen.
        boxes: ``(T, 4)`` its boxes there.
    """

    video_id: str
    start: float
    end: float
    name: str
    probability: float
    times: NDArray[np.float64]
    boxes: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Answer:
    """The answer to a question.

    Attributes:
        kind: What was asked; see :class:`wordsight.language.Understood`.
        text: The answer in a few words.
        probability: How sure.
        participants: Who or what was asked for, the surest first.
    """

    kind: str
    text: str
    probability: float
    participants: tuple[Participant, ...] = ()


def probability(lexicon: LearnedLexicon, score: float) -> float:
    """Return how likely a sentence with a score is true, one half at the threshold."""
    return float(1.0 / (1.0 + np.exp(np.clip(lexicon.threshold - score, -50.0, 50.0))))


def find(
    lexicon: LearnedLexicon,
    clip: Clip,
    query: Understood,
    *,
    top: int | None = 10,
    only_true: bool = False,
    windows: Windows | None = None,
) -> list[SentenceHit]:
    """Rank the moments of a clip by how well they fit a query.

    A denial is a filter: moments at which what it denies holds are left out; where nothing else is
    said, the clip itself is returned if what is denied holds nowhere in it.

    Args:
        lexicon: The words.
        clip: A clip or a whole video.
        query: What is looked for.
        top: Number of moments to return; all if None.
        only_true: Whether to leave out moments at which the query is judged false.
        windows: How long videos are cut.
    """
    if not require_clip(clip).mask.any():
        return []
    said = [s for s in query.statements if not s.negated]
    denied = [s for s in query.statements if s.negated]

    def moments(sentence: Sentence, most: int | None) -> list[SentenceHit]:
        hits = search(lexicon, [clip], sentence, top=most, only_true=only_true, windows=windows)
        judged = (_with_enough(lexicon, clip, sentence, hit) for hit in hits)
        return [hit for hit in judged if hit.holds or not only_true]

    if len(said) == 1 and not denied:
        return moments(said[0].sentence, top)
    per_event = [moments(statement.sentence, _PER_EVENT) for statement in said]
    hits = joined_moments(query, said, per_event) if said else [_whole(lexicon, clip, query)]
    for statement in denied:
        hits = [
            hit
            for hit in (_without(lexicon, clip, statement.sentence, hit) for hit in hits)
            if hit.holds or not only_true
        ]
    hits.sort(key=lambda hit: -hit.score)
    return (windows or Windows.of(lexicon)).without_overlaps(hits)[:top]


def _with_enough(
    lexicon: LearnedLexicon, clip: Clip, sentence: Sentence, hit: SentenceHit
) -> SentenceHit:
    """Judge that there are as many as the sentence says: two people are not one person twice."""
    said: dict[int, Counter[tuple[str, int]]] = defaultdict(Counter)
    for word in sentence.words:
        for role, participant in enumerate(word.participants):
            said[participant][word.entry, role] += 1
    twins = [one for one in said if sum(other == said[one] for other in said.values()) > 1]
    part = clip.part(*hit.judged) if twins else clip
    for _ in twins[1:] if hit.holds else ():
        found = track(lexicon, part, sentence).tracks[twins[0]]
        rest = _without_boxes(part, found.times, found.boxes)
        if rest is None or not search(lexicon, [rest], sentence, top=1, only_true=True):
            return replace(hit, holds=False)
        part = rest
    return hit


def _whole(lexicon: LearnedLexicon, clip: Clip, query: Understood) -> SentenceHit:
    return SentenceHit(clip.video_id, clip.start, clip.end, 0.0, query.text, True, ())


def _without(
    lexicon: LearnedLexicon, clip: Clip, sentence: Sentence, hit: SentenceHit
) -> SentenceHit:
    """Judge that a sentence is false of a moment, besides what is known of it."""
    part = clip if hit.judged == (clip.start, clip.end) else clip.part(*hit.judged)
    best = search(lexicon, [part], sentence, top=1)
    true = probability(lexicon, best[0].score) if best else 0.0
    score = hit.score + float(np.log(max(1e-12, 1.0 - true)))
    evidence = tuple((f"not {word}", -value) for word, value in best[0].evidence) if best else ()
    return replace(
        hit, score=score, holds=hit.holds and true < 0.5, evidence=(*hit.evidence, *evidence)
    )


def joined_moments(
    query: Understood, said: Sequence[Statement], per_event: Sequence[Sequence[SentenceHit]]
) -> list[SentenceHit]:
    """Return the moments at which events happen in their order, from the first to the last.

    Of events that happen several times, those that lie closest together belong together.
    """
    chains: list[tuple[SentenceHit, ...]] = [(hit,) for hit in per_event[0]]
    for statement, following in zip(said[1:], per_event[1:], strict=True):
        link = _order(statement)
        longer = [
            (*chain, hit)
            for chain in chains
            for hit in following
            if _in_order(chain[-1], hit, link)
        ]
        by_last: dict[int, list[tuple[SentenceHit, ...]]] = defaultdict(list)
        for chain in longer:
            by_last[id(chain[-1])].append(chain)  # what follows depends on the last event alone
        chains = [chain for one in by_last.values() for chain in _closest(one)]
    return [
        SentenceHit(
            hits[0].video_id,
            *_span(hits),
            sum(hit.score for hit in hits),
            query.text,
            all(hit.holds for hit in hits),
            tuple(item for hit in hits for item in hit.evidence),
            max(hit.lost_mass for hit in hits),
        )
        for hits in _closest(chains)
    ]


def _span(hits: Sequence[SentenceHit]) -> tuple[float, float]:
    return min(hit.start for hit in hits), max(hit.end for hit in hits)


def _closest(chains: Sequence[tuple[SentenceHit, ...]]) -> list[tuple[SentenceHit, ...]]:
    """Leave out events in whose time others, no less true, happen as well, closer together."""
    ranked = sorted(
        chains, key=lambda hits: (not all(h.holds for h in hits), -sum(h.score for h in hits))
    )
    spans = [_span(hits) for hits in ranked]
    true = [all(hit.holds for hit in hits) for hits in ranked]
    return [
        hits
        for place, (hits, span) in enumerate(zip(ranked, spans, strict=True))
        if not any(
            other != place
            and span[0] <= start
            and end <= span[1]
            and ((start, end) != span or other < place)
            and (true[other] if true[place] else other < place)
            for other, (start, end) in enumerate(spans)
        )
    ]


def _order(statement: Statement) -> str:
    return "and on" if statement.link == "and" and statement.goes_on else statement.link


def _in_order(one: SentenceHit, other: SentenceHit, link: str) -> bool:
    if link in ("then", "before"):
        # Events that a clip cuts begin, or end, together.
        later = one.start + one.end < other.start + other.end
        return later and one.start <= other.start and one.end <= other.end
    if link == "after":
        return _in_order(other, one, "then")
    if link == "and on":  # "came to the table and left", but also "sat and waited"
        return other.end > one.start
    if link == "while":
        return min(one.end, other.end) > max(one.start, other.start)
    return True


def answer(
    lexicon: LearnedLexicon,
    clip: Clip,
    query: Understood,
    hits: Iterable[SentenceHit],
    *,
    windows: Windows | None = None,
) -> list[Participant]:
    """Return who or what a question asks for at the moments that were found in a clip.

    For "how many" every participant of the clip is returned once.
    """
    statement = query.statements[0]
    if query.question is None or statement.focus is None:
        return []
    if query.question == "how many":
        return _counted(lexicon, clip, statement, windows)
    who = query.question == "who"
    return [_participant(lexicon, clip, statement, hit, asks_who=who) for hit in hits]


def _participant(
    lexicon: LearnedLexicon,
    clip: Clip,
    statement: Statement,
    hit: SentenceHit,
    *,
    asks_who: bool = False,
) -> Participant:
    """Name the participant asked for, and find its boxes; who is one of those that can act."""
    assert statement.focus is not None
    part = clip.part(*hit.judged)
    words, focus = statement.sentence.words, statement.focus
    actors = index_of(lexicon.lexicon).actors if asks_who else []
    others = {word.entry for word in words if word.participants != (focus,)}
    nouns = [
        entry.name
        for entry in actors or lexicon.lexicon.of_part(PartOfSpeech.NOUN)
        if entry.name in lexicon.words and entry.name not in others
    ]
    known = any(w.entry in nouns and w.participants == (focus,) for w in words)
    sentence, name, share = statement.sentence, "", 1.0
    if not known and nouns:
        named = [Sentence(hit.text, (*words, Word(noun, (focus,)))) for noun in nouns]
        scores = lexicon.scores(lexicon.observe(part), named)
        best = int(np.argmax(scores))
        weights = np.exp(scores - scores[best])
        sentence, name, share = named[best], nouns[best], float(1.0 / weights.sum())
    elif known:
        name = next(w.entry for w in words if w.entry in nouns and w.participants == (focus,))
    seen = track(lexicon, part, sentence).tracks[focus]
    sure = probability(lexicon, hit.score) * share
    return Participant(hit.video_id, hit.start, hit.end, name, sure, seen.times, seen.boxes)


def _counted(
    lexicon: LearnedLexicon, clip: Clip, statement: Statement, windows: Windows | None
) -> list[Participant]:
    found: list[Participant] = []
    while len(found) < _MOST_COUNTED and clip.detections.mask.any():
        hits = search(lexicon, [clip], statement.sentence, top=1, only_true=True, windows=windows)
        if not hits:
            break
        found.append(_participant(lexicon, clip, statement, hits[0]))
        rest = _without_boxes(clip, found[-1].times, found[-1].boxes)
        if rest is None:
            break
        clip = rest
    return found


def _without_boxes(
    clip: Clip, times: NDArray[np.float64], boxes: NDArray[np.float64]
) -> Clip | None:
    """Return a clip without the detections of a participant; None if none was removed."""
    seen = clip.detections
    mask = seen.mask.copy()
    covered = np.zeros_like(mask)
    for time, box in zip(times, boxes, strict=True):
        row = int(np.argmin(np.abs(seen.times - time)))
        low = np.maximum(seen.boxes[row, :, :2], box[:2])
        high = np.minimum(seen.boxes[row, :, 2:], box[2:])
        shared = np.prod(np.maximum(high - low, 0.0), axis=1)
        size = np.prod(seen.boxes[row, :, 2:] - seen.boxes[row, :, :2], axis=1)
        union = size + float(np.prod(box[2:] - box[:2])) - shared
        covered[row] |= seen.mask[row] & (shared >= _COVERED * np.maximum(union, 1e-9))
    if seen.ids is not None and covered.any():
        # The whole track goes, also where its boxes were not looked at.
        tracks, counts = np.unique(seen.ids[covered], return_counts=True)
        usual = tracks[counts >= 0.5 * counts.max()]
        covered |= seen.mask & np.isin(seen.ids, usual)
    if not covered.any():
        return None
    return replace(clip, detections=replace(seen, mask=mask & ~covered))


def sum_up(
    lexicon: LearnedLexicon,
    query: Understood,
    hits: Sequence[SentenceHit],
    participants: Sequence[Participant],
) -> Answer | None:
    """Sum up what was found in all clips; None if nothing was asked.

    Args:
        lexicon: The words.
        query: The question.
        hits: The moments that were found, best first.
        participants: Who or what :func:`answer` found in all clips.
    """
    if query.question is None:
        return None
    kind = query.question
    true = [hit for hit in hits if hit.holds]
    best = probability(lexicon, hits[0].score) if hits else 0.0
    known = tuple(sorted(participants, key=lambda one: -one.probability))
    if kind == "whether":
        return Answer(kind, "yes" if true else "no", best if true else 1.0 - best)
    if kind == "how many":
        sure = min((one.probability for one in known), default=1.0 - best)
        text = f"{len(known)} or more" if len(known) == _MOST_COUNTED else str(len(known))
        return Answer(kind, text, sure, known)
    if kind == "how often":
        sure = min((probability(lexicon, hit.score) for hit in true), default=1.0 - best)
        return Answer(kind, str(len(true)), sure)
    if not true and kind in ("who", "what"):
        text = "no one" if kind == "who" else "nothing"
        return Answer(kind, f"{text}, as far as can be seen", 1.0 - best, known)
    if kind in ("who", "what") and known:
        return Answer(
            kind, known[0].name or "something without a name", known[0].probability, known
        )
    if not true:
        return Answer(kind, "never, as far as can be seen", 1.0 - best)
    first = true[0]
    where = f"{first.video_id}, {first.start:.1f}-{first.end:.1f} s"
    return Answer(kind, where, best, known)
