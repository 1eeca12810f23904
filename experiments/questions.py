"""Questions about films of the street: who, what, when, how many, whether, in which order, and not.

Run with ``python -m experiments.questions [--clips 61] [--seed 0] [--draws 4] [--json]``. For each
draw, words are learned by the functions of ``wordsight learn`` from the films of two places, with
true boxes as tracks. In the third place, films are joined three by three, and questions are asked
of each long film in plain English, with other tenses and words than in training; ``wordsight
search`` reads and answers them by the same functions. Per kind: ``accuracy``, ``blind`` and how
many were asked, all draws together: one has some 25 questions of a kind, too few to say much. Blind
is the most usual right answer to that kind of question; to ``who``, it is the person who is seen
longest.

``who`` is right if the boxes that are drawn are those of one who did it, among all people of the
film; ``what`` if the noun is; ``when`` if the moment overlaps a true one by half of both together
(intersection over union); ``how many`` if the number is; ``whether``, ``order`` and ``negation`` if
yes or no is. False variants are asked as often as true ones, as far as there are any.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np

from experiments.learning import learn_words
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_corpus import true_clip
from wordsight.language import default_lexicon
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.tasks.answer import Answer, answer, find, sum_up
from wordsight.meaning.tasks.results import SentenceHit
from wordsight.records import Clip, Detections
from wordsight.workflows.lexicon import readable_grammar
from wordsight.workflows.reporter import RecordingReporter
from wordsight.worlds import street
from wordsight.worlds.street import StreetFilm

__all__ = [
    "joined",
    "learn_places",
    "long_films",
    "main",
    "measure",
    "named_clip",
    "pooled",
    "split_places",
    "true_pairs",
]

KINDS = ("who", "what", "when", "how many", "whether", "order", "negation")
_NOUNS = ("backpack", "chair", "person", "stool", "traffic-cone", "trash-can")
_JOINED = 3  # films that make a long one
_FORMS = {
    "picked-up": ("pick up", "picked up", "picking up"),
    "put-down": ("put down", "put down", "putting down"),
    "carried": ("carry", "carried", "carrying"),
    "approached": ("approach", "approached", "approaching"),
}


@dataclass(frozen=True)
class Happening:
    """An event of a long film, with kinds and identities of individuals, and seconds."""

    verb: str
    agent: tuple[str, int]
    patient: tuple[str, int]
    start: float
    end: float


@dataclass(frozen=True)
class LongFilm:
    """Films joined one after the other."""

    clip: Clip
    events: tuple[Happening, ...]

    def of(self, verb: str, patient: str, agent: str | None = "person") -> list[Happening]:
        """Return the events with a verb, a kind of patient and a kind of agent."""
        return [
            e
            for e in self.events
            if e.verb == verb and e.patient[0] == patient and agent in (None, e.agent[0])
        ]

    @property
    def longest_seen(self) -> int:
        """The person who is in most frames."""
        seen = self.clip.detections
        assert seen.ids is not None
        people = seen.ids[seen.mask & (seen.labels == _NOUNS.index("person"))]
        return int(np.bincount(people).argmax())


@dataclass(frozen=True)
class Asked:
    """A question with the answers that are right."""

    kind: str
    text: str
    right: tuple[Any, ...]


def measure(clips: int, seed: int, quick: bool) -> dict[str, Any]:
    """Run the experiment.

    Args:
        clips: How many films.
        seed: Of films and learning.
        quick: Whether to leave out training against false sentences.
    """
    words, new = learn_places(list(street(clips, seed)), seed, quick)
    rng = np.random.default_rng(seed)
    right: dict[str, list[bool]] = defaultdict(list)
    given: dict[str, list[tuple[Any, ...]]] = defaultdict(list)
    usual: list[bool] = []
    for film in long_films(new):
        for asked in questions(film, rng):
            answered = _answered(words, film.clip, asked.text)
            right[asked.kind].append(_is_right(asked, film, *answered))
            given[asked.kind].append(asked.right)
            usual += [film.longest_seen in asked.right] if asked.kind == "who" else []
        say(f"{film.clip.video_id}: {sum(map(len, right.values()))} questions")
    blind = {
        kind: float(np.mean(usual)) if kind == "who" else _blind(given[kind]) for kind in given
    }
    return {
        kind: {
            "accuracy": round(float(np.mean(right[kind])), 4),
            "blind": round(blind[kind], 4),
            "questions": len(right[kind]),
        }
        for kind in KINDS
        if right[kind]
    }


def pooled(draws: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what several draws make together, each question counting alike."""
    together = {}
    for kind in KINDS:
        rows = [draw[kind] for draw in draws if kind in draw]
        asked = sum(row["questions"] for row in rows)
        if asked:
            means = {
                name: round(sum(row[name] * row["questions"] for row in rows) / asked, 4)
                for name in ("accuracy", "blind")
            }
            together[kind] = means | {"questions": asked}
    return together


def learn_places(
    films: Sequence[StreetFilm], seed: int, quick: bool
) -> tuple[LearnedLexicon, list[StreetFilm]]:
    """Learn words from the films of all places but the last; return them and its films."""
    known, new = split_places(films)
    return _learned(known, seed, quick), new


def split_places(films: Sequence[StreetFilm]) -> tuple[list[StreetFilm], list[StreetFilm]]:
    """Return the films of all places but the last, and those of the last."""
    places = [str(film.truth.record()["place"]) for film in films]
    last = list(dict.fromkeys(places))[-1]
    known = [film for film, place in zip(films, places, strict=True) if place != last]
    return known, [film for film, place in zip(films, places, strict=True) if place == last]


def _learned(films: Sequence[StreetFilm], seed: int, quick: bool) -> LearnedLexicon:
    reporter = RecordingReporter()
    clips = [named_clip(film) for film in films]
    texts = [list(film.sentences) for film in films]
    lexicon, sentences = readable_grammar(default_lexicon(), texts, reporter)
    learned = learn_words(clips, sentences, lexicon, cut=False, quick=quick, seed=seed)
    return learned.with_silent(entry.name for entry in lexicon)


def named_clip(film: StreetFilm) -> Clip:
    """Return the true boxes of a film, with labels that number all nouns of the street."""
    clip = true_clip(film)
    seen = clip.detections
    numbers = np.array([_NOUNS.index(name) for name in seen.label_names])
    labels = numbers[np.clip(seen.labels, 0, len(numbers) - 1)]
    return replace(clip, detections=replace(seen, labels=labels, label_names=_NOUNS))


def long_films(films: Sequence[StreetFilm]) -> Iterator[LongFilm]:
    """Yield films joined three by three."""
    for first in range(0, len(films) - _JOINED + 1, _JOINED):
        yield joined(films[first : first + _JOINED])


def joined(films: Sequence[StreetFilm]) -> LongFilm:
    """Join films one after the other."""
    frames, events, offset = [], [], 0.0
    for number, film in enumerate(films):
        clip = named_clip(film)
        for index in range(len(clip.detections)):
            frame = clip.detections.frame(index)
            assert frame.ids is not None
            frames.append(replace(frame, time=frame.time + offset, ids=frame.ids + 100 * number))
        kinds, names = film.truth.kinds, list(film.truth.boxes)
        for event in film.truth.events:
            span = event.span
            events.append(
                Happening(
                    event.verb,
                    (kinds[event.agent], 100 * number + names.index(event.agent)),
                    (kinds[event.patient], 100 * number + names.index(event.patient)),
                    offset + span.first / film.frame_rate,
                    offset + span.last / film.frame_rate,
                )
            )
        offset += film.num_frames / film.frame_rate
    size = clip.detections.frame_size
    seen = Detections.from_frames(frames, label_names=_NOUNS, frame_size=size)
    name = "+".join(film.name for film in films)
    return LongFilm(Clip(name, 0.0, offset, seen), tuple(events))


def true_pairs(film: LongFilm) -> list[tuple[str, str]]:
    """Return what people do to which kinds of things, each once."""
    return sorted({(e.verb, e.patient[0]) for e in film.events if e.agent[0] == "person"})


def questions(film: LongFilm, rng: np.random.Generator) -> Iterator[Asked]:
    """Yield questions about a film."""
    true = true_pairs(film)
    every = [(v, n) for v in _FORMS for n in _NOUNS if n != "person"]
    false = [pair for pair in every if not film.of(*pair, agent=None)]
    chosen = [false[n] for n in rng.permutation(len(false))[: len(true)]]
    for verb, noun in true:
        base, past, going = _FORMS[verb]
        thing, events = noun.replace("-", " "), film.of(verb, noun)
        yield Asked("who", f"Who {past} the {thing}?", tuple({e.agent[1] for e in events}))
        things = {e.patient[0] for e in film.events if e.verb == verb and e.agent[0] == "person"}
        yield Asked("what", f"What did the man {base}?", tuple(things))
        when = tuple((e.start, e.end) for e in events)
        yield Asked("when", f"When did somebody {base} the {thing}?", when)
        people = len({e.agent[1] for e in events})
        yield Asked("how many", f"How many people {past} a {thing}?", (str(people),))
        yield Asked("whether", f"Is anyone {going} the {thing}?", ("yes",))
        yield Asked("negation", f"The person did not {base} the {thing}.", ("no",))
    for verb, noun in chosen:
        base, past, going = _FORMS[verb]
        thing = noun.replace("-", " ")
        yield Asked("whether", f"Is anyone {going} the {thing}?", ("no",))
        yield Asked("negation", f"The person did not {base} the {thing}.", ("yes",))
        yield Asked("how many", f"How many people {past} a {thing}?", ("0",))
    yield from _orders(film, true, rng)


def _orders(
    film: LongFilm, true: Sequence[tuple[str, str]], rng: np.random.Generator
) -> Iterator[Asked]:
    pairs = list(permutations(true, 2))
    for place in rng.permutation(len(pairs))[:6]:
        (verb, noun), (other, thing) = pairs[place]
        ordered = any(
            one.end < two.start for one in film.of(verb, noun) for two in film.of(other, thing)
        )
        said = f"She {_FORMS[verb][1]} the {noun} and then {_FORMS[other][1]} the {thing}."
        yield Asked("order", said.replace("-", " "), ("yes" if ordered else "no",))


def _answered(
    words: LearnedLexicon, clip: Clip, text: str
) -> tuple[list[SentenceHit], Answer | None]:
    query = words.query(text)
    hits = find(words, clip, query, only_true=query.question is None)
    true = [hit for hit in hits if hit.holds]
    return true, sum_up(words, query, hits, answer(words, clip, query, true))


def _is_right(asked: Asked, film: LongFilm, hits: list[SentenceHit], found: Answer | None) -> bool:
    if asked.kind == "who":
        return found is not None and _drawn(film, found) in asked.right
    if asked.kind == "when":
        return bool(hits) and any(_overlaps(hits[0], *span) for span in asked.right)
    if asked.kind in ("order", "negation"):
        return ("yes" if hits else "no") in asked.right
    return found is not None and found.text in asked.right


def _drawn(film: LongFilm, found: Answer) -> int:
    """Return whose boxes are drawn for an answer, -1 if there are none."""
    if not found.participants:
        return -1
    seen, drawn = film.clip.detections, found.participants[0]
    assert seen.ids is not None
    shared = [
        seen.ids[row][seen.mask[row] & (np.abs(seen.boxes[row] - box).max(axis=1) < 1.0)]
        for time, box in zip(drawn.times, drawn.boxes, strict=True)
        for row in [int(np.argmin(np.abs(seen.times - time)))]
    ]
    ids = np.concatenate([np.zeros(0, dtype=np.int64), *shared])
    return int(np.bincount(ids).argmax()) if len(ids) else -1


def _overlaps(hit: SentenceHit, start: float, end: float) -> bool:
    common = min(hit.end, end) - max(hit.start, start)
    return common >= 0.5 * (max(hit.end, end) - min(hit.start, start))


def _blind(given: Sequence[tuple[Any, ...]]) -> float:
    """Return how often the answer that is right most often is right."""
    counts = Counter(one for right in given for one in set(right))
    return max(counts.values(), default=0) / max(1, len(given))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.questions", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="number of films")
    parser.add_argument("--seed", type=int, default=0, help="of the first draw")
    parser.add_argument("--draws", type=int, default=4, help="how many draws")
    parser.add_argument("--quick", action="store_true", help="as `wordsight learn --quick`")
    options = parser.parse_args(arguments)
    draws = []
    for seed in range(options.seed, options.seed + options.draws):
        draws.append(measure(options.clips, seed, options.quick))
        say(f"draw {seed}: " + ", ".join(f"{k} {v['accuracy']:.3f}" for k, v in draws[-1].items()))
    result = pooled(draws)
    print_report(
        result,
        as_json=options.json,
        title="Questions about films of the street",
        columns=[
            Column("kind", "", justify="left"),
            Column("accuracy", "accuracy", ".3f"),
            Column("blind", "blind", ".3f"),
            Column("questions", "questions", "d"),
        ],
        rows=[{"kind": kind} | row for kind, row in result.items()],
    )


if __name__ == "__main__":
    run_main(main)
