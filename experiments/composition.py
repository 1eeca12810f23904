"""What a modifier adds to a verb: is "put down" with "to the left of" more than "put down"?

Run with ``python -m experiments.composition [--draws 3] [--seed 40] [--quick] [--json]``. Words are
learned from films of two places of the street with true boxes, by the functions of ``wordsight
learn``, and judged in the third. Half of the pairs of a verb and a modifier never occur together in
what is learned from: sentences that have such a pair lose their modifiers. Each modifier is still
heard with other verbs, and each verb with other modifiers.

Asked is only where the sentence without the modifier is true of a film ("the person put down the
backpack"), so that the verb and the nouns tell nothing about the answer. ``area``: under the ROC
curve of all such sentences with one modifier, true and false; ``verb_alone`` is that of the
sentence without it. ``choice``: how often the true one of two opposite modifiers ("to the left of",
"to the right of") gets the higher score; chance is .5. Each for pairs that were heard together and
for pairs that never were, per kind of modifier. Nothing was chosen on these draws.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from experiments.learning import learn_words
from experiments.questions import named_clip, split_places
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.evaluation import roc_curve
from wordsight.language import default_lexicon, parse, sentence_of
from wordsight.records import Sentence
from wordsight.worlds import street
from wordsight.worlds.street import StreetFilm, street_sentences

__all__ = ["Question", "asked", "heard", "main", "measure", "never_together", "summarise"]

OPPOSITES = {
    "adverb": ("quickly", "slowly"),
    "spatial preposition": ("to-the-left-of", "to-the-right-of"),
    "motion preposition": ("towards", "away-from"),
}
VERBS = ("picked-up", "put-down", "carried", "approached")
MODIFIERS = tuple(word for pair in OPPOSITES.values() for word in pair)
KINDS = {word: kind for kind, pair in OPPOSITES.items() for word in pair}


class Question(NamedTuple):
    """A sentence with one modifier, asked of a film of which it is true without.

    Attributes:
        kind: Of the modifier.
        held: Whether verb and modifier were never heard together.
        true: Whether the sentence is true of the film.
        score: Of the sentence.
        alone: The score without the modifier.
        pair: The same of opposite modifiers: what else is asked.
    """

    kind: str
    held: bool
    true: bool
    score: float
    alone: float
    pair: tuple[Any, ...]


def never_together(verb: str, modifier: str) -> bool:
    """Whether a verb and a modifier are in no sentence that is learned from."""
    # Opposites go together: a verb is heard with both of them, or with neither.
    return (VERBS.index(verb) + MODIFIERS.index(modifier) // 2) % 2 == 0


def without_modifiers(sentence: Sentence) -> Sentence:
    """Return a sentence with its verb and the nouns of the verb alone."""
    verb = next(word for word in sentence.words if word.entry in VERBS)
    kept = [w for w in sentence.words if w.entry not in MODIFIERS]
    kept = [w for w in kept if w is verb or w.participants[0] in verb.participants]
    numbers = {old: new for new, old in enumerate(verb.participants)}
    renumbered = [type(w)(w.entry, tuple(numbers[p] for p in w.participants)) for w in kept]
    return sentence_of(renumbered, default_lexicon())


def heard(film: StreetFilm) -> list[Sentence]:
    """Return what is said of a film, sentences with a pair that is held back without modifiers."""
    said = []
    for text in film.sentences:
        sentence = parse(text, default_lexicon())
        entries = [word.entry for word in sentence.words]
        verb = next(entry for entry in entries if entry in VERBS)
        held = any(never_together(verb, e) for e in entries if e in MODIFIERS)
        said.append(without_modifiers(sentence) if held else sentence)
    return said


def asked() -> Iterator[tuple[str, str, Sentence, Sentence]]:
    """Yield verb, modifier, the sentence with one modifier and that without any."""
    for sentence in street_sentences(3):
        entries = [word.entry for word in sentence.words]
        more = [entry for entry in entries if entry in MODIFIERS]
        if len(more) == 1 and entries[0] == "person" and entries.count("person") == 1:
            verb = next(entry for entry in entries if entry in VERBS)
            yield verb, more[0], sentence, without_modifiers(sentence)


def measure(clips: int, seeds: Sequence[int], quick: bool) -> dict[str, Any]:
    """Run the experiment; see the options."""
    answered: list[Question] = []
    questions = list(asked())
    for seed in seeds:
        films = list(street(clips, seed))
        known, new = split_places(films)
        lexicon = default_lexicon()
        learned = learn_words(
            list(map(named_clip, known)),
            list(map(heard, known)),
            lexicon,
            cut=False,
            quick=quick,
            seed=seed,
        ).with_silent(entry.name for entry in lexicon)
        for film in new:
            true = [one for one in questions if film.truth.holds(one[3])]
            observation = learned.observe(named_clip(film))
            scorer = learned.scorer(observation)
            scores = learned.scores(observation, [one[2] for one in true], scorer)
            bare = learned.scores(observation, [one[3] for one in true], scorer)
            for (verb, word, full, _), score, alone in zip(true, scores, bare, strict=True):
                kind, held = KINDS[word], never_together(verb, word)
                blank = (w if w.entry != word else w.participants for w in full.words)
                pair = (seed, film.name, *blank)
                answered.append(Question(kind, held, film.truth.holds(full), score, alone, pair))
        say(f"draw {seed}: {len(answered)} questions so far")
    return {
        kind: {
            name: summarise([one for one in answered if one[:2] == (kind, held)])
            for name, held in (("heard_together", False), ("never_together", True))
        }
        for kind in OPPOSITES
    }


def summarise(answered: Sequence[Question]) -> dict[str, float]:
    """Return areas, and how often the true one of two opposites has the higher score."""
    truth = np.array([one.true for one in answered], dtype=np.bool_)
    pairs: dict[tuple[Any, ...], dict[bool, float]] = {}
    for one in answered:
        pairs.setdefault(one.pair, {})[one.true] = one.score
    right = [pair[True] > pair[False] for pair in pairs.values() if len(pair) == 2]
    areas = [
        roc_curve(np.array(scores), truth).area
        for scores in ([one.score for one in answered], [one.alone for one in answered])
    ]
    return {
        "area": round(areas[0], 4),
        "verb_alone": round(areas[1], 4),
        "choice": round(float(np.mean(right)), 4) if right else 0.0,
        "choices": len(right),
        "questions": len(answered),
    }


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.composition", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="number of films")
    parser.add_argument("--seed", type=int, default=40, help="of the first draw")
    parser.add_argument("--draws", type=int, default=3, help="how many draws")
    parser.add_argument("--quick", action="store_true", help="as `wordsight learn --quick`")
    options = parser.parse_args(arguments)
    seeds = range(options.seed, options.seed + options.draws)
    result = measure(options.clips, seeds, options.quick)
    print_report(
        result,
        as_json=options.json,
        title="What a modifier adds to a verb",
        columns=[
            Column("row", "", justify="left"),
            *(Column(name, name, ".3f") for name in ("area", "verb_alone", "choice")),
            *(Column(name, name, "d") for name in ("choices", "questions")),
        ],
        rows=[
            {"row": f"{kind}, {name.replace('_', ' ')}"} | row
            for kind, both in result.items()
            for name, row in both.items()
        ],
    )


if __name__ == "__main__":
    run_main(main)
