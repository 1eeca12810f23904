"""What nobody named, and words that come later, on real photos and real speech.

Run with ``python -m experiments.new_words --images DIR --speech DIR [--seeds N]
[--first-seed N] [--json]``.
``no_word``: after written lessons without one colour, how many cards of that colour get no word for
it, and how many of the others wrongly get none; and whether the digits are still said. ``added``:
two or one words are held back, heard only, and taught later (``teach --add``): how many of the
later recordings are taken for the right word, and whether each new word joins its own attribute.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.cards import Cards, shared_words
from experiments.data.cards import Photos, read_photos, read_recordings
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import RECOMMENDED, AttributeLearner, Lessons, describe_pictures
from wordsight.errors import FormatError

__all__ = ["main", "measure"]

PAIRS = 150
"""Written lessons per attribute."""
TESTED = 75
"""Cards of named colours that are kept back."""
HEARD = 200
"""Spoken lessons per attribute."""
EARLY = 0.8
"""Share of the lessons with other words that come first."""


def measure(
    images: Path, speech: Path, *, colour: str = "yellow", seeds: int = 8, first: int = 0
) -> dict[str, Any]:
    """Run both parts over seeds and gather the report."""
    photos = read_photos(images)
    if colour not in photos.colours:
        raise FormatError(f"no photo is {colour}; there are {', '.join(set(photos.colours))}.")
    drawn = range(first, first + seeds)
    unnamed = _unnamed(photos, colour, drawn)
    say(f"no word: {unnamed}")
    added = _added(images, speech, drawn)
    drawn_from = {"colour": colour, "seeds": seeds, "first_seed": first}
    return {"no_word": unnamed, "added": added} | drawn_from


def _unnamed(photos: Photos, colour: str, seeds: range) -> dict[str, float]:
    kinds = describe_pictures(photos.images, RECOMMENDED.pictures)
    truth = np.stack([photos.colours, photos.digits], axis=1)
    found: dict[str, list[float]] = {}
    for seed in seeds:
        for name, share in _unnamed_once(kinds, truth, truth[:, 0] == colour, seed).items():
            found.setdefault(name, []).append(share)
    return {name: round(float(np.mean(shares)), 4) for name, shares in found.items()}


def _unnamed_once(
    kinds: Sequence[NDArray[np.float64]],
    truth: NDArray[np.str_],
    new: NDArray[np.bool_],
    seed: int,
) -> dict[str, float]:
    random = np.random.default_rng(seed)
    order = random.permutation(np.flatnonzero(~new))
    tested, taught = order[:TESTED], order[TESTED:]
    pictures = [random.choice(taught, PAIRS) for _ in (0, 1)]
    words = [str(word) for column in (0, 1) for word in truth[pictures[column], column]]
    shown = np.concatenate(pictures)
    silent = (None,) * len(shown)
    lessons = Lessons(
        tuple(kind[shown] for kind in kinds), tuple(words), np.zeros((len(shown), 0)), silent
    )
    learner = AttributeLearner(RECOMMENDED, num_attributes=2, random_state=seed)
    learner.fit_lessons(lessons)
    names = [word.name for word in learner.words_]
    shares = {}
    for name, cards in (("new colour", np.flatnonzero(new)), ("named colours", tested)):
        for recalled in learner.recall([kind[cards] for kind in kinds]):
            is_colour = names[recalled.classes[0]] in truth[:, 0]
            what = "no colour" if is_colour else "no digit"
            shares[f"{name}: {what}"] = 1.0 - float(recalled.known.mean())
    return shares


def _added(images: Path, speech: Path, seeds: range) -> list[dict[str, Any]]:
    photos, spoken, colours, digits = shared_words(read_photos(images), read_recordings(speech))
    cards = Cards.describe(photos, None, spoken, RECOMMENDED)
    rows = []
    for seed in seeds:
        random = np.random.default_rng(1000 + seed)
        # A colour, a digit and one of each in turn, so that every seed holds back others.
        later = [str(random.choice(colours))] if seed % 3 != 1 else []
        later += [str(random.choice(digits))] if seed % 3 != 0 else []
        rows.append({"seed": seed, "later": later} | _added_once(cards, later, set(colours), seed))
        say(f"added later: {rows[-1]}")
    return rows


def _added_once(cards: Cards, later: list[str], colours: set[str], seed: int) -> dict[str, Any]:
    train, _, random = cards.split(seed, unseen=False)
    lessons, words, _ = cards.lessons(train, random, HEARD)
    first = ~np.isin(words, later) & (random.random(len(words)) < EARLY)
    learner = AttributeLearner(RECOMMENDED, num_attributes=2, random_state=seed)
    learner.fit_lessons(_part(lessons, np.flatnonzero(first)))
    learner.teach_lessons(_part(lessons, np.flatnonzero(~first)))
    said = np.concatenate([words[first], words[~first]])
    types = learner.vocabulary_.words
    meant = {int(k): Counter(said[types == k].tolist()).most_common(1)[0][0] for k in set(types)}
    attribute = learner.attribution_.words
    homes = {}
    for is_colour in (True, False):
        old = [
            k for k, word in meant.items() if word not in later and (word in colours) == is_colour
        ]
        homes[is_colour] = Counter(int(attribute[k]) for k in old).most_common(1)[0][0]
    # All lessons are learned from again: word types have other numbers than before.
    new = [k for k in meant if meant[k] in later]
    right = [int(attribute[k]) == homes[meant[k] in colours] for k in new]
    late = slice(int(first.sum()), None)
    heard = [meant[int(k)] == word for k, word in zip(types[late], said[late], strict=True)]
    return {
        "later_recordings_right": round(float(np.mean(heard)), 4),
        "new_words": sorted(meant[k] for k in new),
        "in_the_right_attribute": int(sum(right)),
        "attributes": int(learner.num_attributes_),
    }


def _part(lessons: Lessons, chosen: NDArray[np.intp]) -> Lessons:
    return Lessons(
        tuple(kind[chosen] for kind in lessons.kinds),
        tuple(lessons.texts[n] for n in chosen),
        lessons.speech[chosen],
        tuple(lessons.sounds[n] for n in chosen),
    )


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.new_words", __doc__ or "")
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help="photos")
    parser.add_argument("--speech", type=Path, required=True, metavar="DIR", help="recordings")
    parser.add_argument("--colour", default="yellow", help="which is never named (yellow)")
    parser.add_argument("--seeds", type=int, default=8, help="how many draws (8)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (0)")
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error("at least 1 seed is needed")
    results = measure(
        options.images,
        options.speech,
        colour=options.colour,
        seeds=options.seeds,
        first=options.first_seed,
    )
    print_report(
        results,
        as_json=options.json,
        title=f"Words added later, and {results['no_word']}",
        columns=[
            Column("seed", "seed"),
            Column("later", "held back", justify="left"),
            Column("later_recordings_right", "later recordings right", ".3f"),
            Column("new_words", "new words", justify="left"),
            Column("in_the_right_attribute", "in the right attribute"),
            Column("attributes", "attributes"),
        ],
        rows=[
            row | {key: ", ".join(row[key]) for key in ("later", "new_words")}
            for row in results["added"]
        ],
    )


if __name__ == "__main__":
    run_main(main)
