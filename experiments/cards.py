"""Attributes from real photos and real speech: which attribute does a spoken word name?

Run with ``python -m experiments.cards --images DIR --speech DIR [--test DIR] [--seeds N]``.
Per seed, photos are paired with single recordings of their colour or their digit, 200 pairs for
each, without saying which of the two is meant; a quarter of the photos is kept for testing (or all
of ``--test`` is the test). The system must then say both words of every test photo. An answer is
right if the recording it would play is of the right word. Attributes are matched with colour and
digit by the training pairs; an attribute too many or too few costs its share. Six colour-digit
combinations are also left out of training altogether, and asked for (the default method only).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.attribute_scores import Scored, control, evaluate
from experiments.data.cards import Photos, Recordings, read_photos, read_recordings
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import (
    ANNEALED,
    FAITHFUL,
    RECOMMENDED,
    AttributeLearner,
    AttributeSettings,
    Lessons,
    describe_pictures,
)
from wordsight.attributes.features.speech import speech_features
from wordsight.errors import FormatError

__all__ = ["Cards", "main", "measure", "shared_words"]

Labels = NDArray[np.intp]

PAIRS = 200
"""Training pairs per attribute, as in the paper."""
TEST_SHARE = 0.25
HELD_COMBINATIONS = 6


@dataclass(frozen=True, eq=False)
class Cards:
    """Everything described once: photos to learn from, photos to test on, recordings."""

    kinds: tuple[NDArray[np.float64], ...]
    truth: NDArray[np.str_]
    test_kinds: tuple[NDArray[np.float64], ...]
    test_truth: NDArray[np.str_]
    separate: bool
    speech: NDArray[np.float64]
    spoken: Recordings

    @classmethod
    def describe(
        cls, photos: Photos, tests: Photos | None, spoken: Recordings, settings: AttributeSettings
    ) -> "Cards":
        """Describe photos and recordings with the features of some settings."""
        kinds = describe_pictures(photos.images, settings.pictures)
        test = tests or photos
        return cls(
            kinds,
            np.stack([photos.colours, photos.digits], axis=1),
            describe_pictures(test.images, settings.pictures) if tests else kinds,
            np.stack([test.colours, test.digits], axis=1),
            tests is not None,
            speech_features(settings.speech).describe(spoken.sounds),
            spoken,
        )

    def split(self, seed: int, *, unseen: bool) -> tuple[Labels, Labels, np.random.Generator]:
        """Draw the photos to train and to test on."""
        random = np.random.default_rng(seed)
        everything = np.arange(len(self.truth))
        if unseen:
            held = _held_combinations(self.truth, random)
            train = everything[~_among(self.truth, held)]
            return train, np.flatnonzero(_among(self.test_truth, held)), random
        if self.separate:
            return everything, np.arange(len(self.test_truth)), random
        order = random.permutation(everything)
        cut = round(TEST_SHARE * len(order))
        return order[cut:], order[:cut], random

    def lessons(
        self, train: Labels, random: np.random.Generator, pairs: int
    ) -> tuple[Lessons, NDArray[np.str_], Labels]:
        """Pair photos with recordings; also return the true words and attributes."""
        pictures, recordings, attributes = [], [], []
        for attribute, kind in enumerate("cd"):
            for photo in random.choice(train, pairs):
                right = (self.spoken.kinds == kind) & (
                    self.spoken.words == self.truth[photo, attribute]
                )
                pictures.append(photo)
                recordings.append(random.choice(np.flatnonzero(right)))
                attributes.append(attribute)
        nothing = (None,) * len(pictures)
        lessons = Lessons(
            tuple(kind[pictures] for kind in self.kinds),
            nothing,
            self.speech[recordings],
            nothing,
        )
        return lessons, self.spoken.words[recordings], np.array(attributes, dtype=np.intp)


def measure(
    images: Path,
    speech: Path,
    *,
    test: Path | None = None,
    seeds: int = 50,
    first: int = 0,
    pairs: int = PAIRS,
    only: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Run methods (all by default) over seeds and gather the report."""
    photos, spoken, colours, digits = shared_words(read_photos(images), read_recordings(speech))
    tests = None if test is None else _only(read_photos(test), colours, digits)
    good = Cards.describe(photos, tests, spoken, RECOMMENDED)
    old = Cards.describe(photos, tests, spoken, FAITHFUL)
    given = {"num_attributes": 2}
    methods = {
        "default": (good, RECOMMENDED),
        "annealed": (good, replace(ANNEALED, **given)),
        "faithful": (old, replace(FAITHFUL, **given)),
        "control": (good, replace(RECOMMENDED, **given)),
        "k_given": (good, replace(RECOMMENDED, **given)),
        "plain_em": (good, replace(ANNEALED, annealed=False, **given)),
        "variational": (good, replace(RECOMMENDED, method="variational")),
    }
    rows = {}
    for name in only or methods:
        cards, settings = methods[name]
        rows[name] = _row(cards, settings, range(first, first + seeds), pairs, name)
        say(f"{name}: {rows[name]}")
    head = {key: rows.get("default", {}).get(key) for key in _HEADLINE}
    return head | {
        "chance": round((1 / len(colours) + 1 / len(digits)) / 2, 3),
        "seeds": seeds,
        "first_seed": first,
        "pairs_per_attribute": pairs,
        "photos": len(photos),
        "test_photos": len(tests) if tests else round(TEST_SHARE * len(photos)),
        "recordings": len(spoken.sounds),
        "rows": rows,
    }


_HEADLINE = ("mean", "min", "max", "colour", "digit", "unseen_combinations", "k_found")


def _row(
    cards: Cards, settings: AttributeSettings, seeds: range, pairs: int, name: str
) -> dict[str, Any]:
    seen, unseen = [], []
    for number, seed in enumerate(seeds):
        if number % 10 == 0:
            say(f"{name}: seed {number} of {len(seeds)}")
        one = _scored(cards, settings, seed, pairs, name, unseen=False)
        seen += [] if one is None else [one]
        if name == "default":
            # Few other photos may show none of the combinations that were held back.
            one = _scored(cards, settings, seed, pairs, name, unseen=True)
            unseen += [] if one is None else [one]
    rates = [one.rate for one in seen]
    unheard = [one.rate for one in unseen]
    return {
        "mean": round(float(np.mean(rates)), 4),
        "min": round(float(np.min(rates)), 4),
        "max": round(float(np.max(rates)), 4),
        "colour": round(float(np.mean([one.by_attribute[0] for one in seen])), 4),
        "digit": round(float(np.mean([one.by_attribute[1] for one in seen])), 4),
        "unseen_combinations": round(float(np.mean(unheard)), 4) if unheard else None,
        "unseen_min": round(float(np.min(unheard)), 4) if unheard else None,
        "k_found": round(float(np.mean([one.num_attributes == 2 for one in seen])), 4),
        "k_found_by_mdl": round(float(np.mean([one.num_by_length == 2 for one in seen])), 4)
        if settings.num_attributes is None
        else None,
        "k_found_by_aic": round(float(np.mean([one.num_by_aic == 2 for one in seen])), 4),
        "k_found_by_bic": round(float(np.mean([one.num_by_bic == 2 for one in seen])), 4),
        "assignment": round(float(np.mean([one.assignment for one in seen])), 4),
    }


def _scored(
    cards: Cards, settings: AttributeSettings, seed: int, pairs: int, name: str, *, unseen: bool
) -> Scored | None:
    """Score a method on one draw; ``None`` if there is nothing to test on."""
    train, test, random = cards.split(seed, unseen=unseen)
    if not len(test):
        return None
    lessons, words, attributes = cards.lessons(train, random, pairs)
    learner = AttributeLearner(replace(settings, random_state=seed)).fit_lessons(lessons)
    if name == "control":
        learner = control(learner, seed)
    kinds = [kind[test] for kind in cards.test_kinds]
    return evaluate(learner, kinds, cards.test_truth[test], words, attributes)


def _held_combinations(
    truth: NDArray[np.str_], random: np.random.Generator
) -> list[tuple[str, str]]:
    """Choose combinations of different digits, colours in turn, so that every word stays heard."""
    colours, digits = (np.unique(truth[:, column]) for column in (0, 1))
    chosen = random.permutation(digits)[:HELD_COMBINATIONS]
    turn = random.permutation(colours)
    return [(str(turn[i % len(turn)]), str(digit)) for i, digit in enumerate(chosen)]


def _among(truth: NDArray[np.str_], held: Sequence[tuple[str, str]]) -> NDArray[np.bool_]:
    return np.array([(str(colour), str(digit)) in held for colour, digit in truth], dtype=bool)


def shared_words(
    photos: Photos, spoken: Recordings
) -> tuple[Photos, Recordings, list[str], list[str]]:
    """Return photos and recordings of the colours and digits both have, and which these are."""
    colours = _shared("colours", photos.colours, spoken.words[spoken.kinds == "c"])
    digits = _shared("digits", photos.digits, spoken.words[spoken.kinds == "d"])
    return _only(photos, colours, digits), _used(spoken, colours, digits), colours, digits


def _shared(what: str, shown: NDArray[np.str_], said: NDArray[np.str_]) -> list[str]:
    """Return the words that photos and recordings have in common."""
    both = sorted(set(shown.tolist()) & set(said.tolist()))
    left = sorted(set(shown.tolist()) ^ set(said.tolist()))
    if left:
        say(f"{what} without photos or without recordings, left out: {', '.join(left)}")
    if len(both) < 2:
        raise FormatError(
            f"photos and recordings must share at least two {what}; they share {len(both)}."
        )
    return both


def _only(photos: Photos, colours: list[str], digits: list[str]) -> Photos:
    wanted = np.isin(photos.colours, colours) & np.isin(photos.digits, digits)
    kept = np.flatnonzero(wanted)
    if not len(kept):
        raise FormatError(
            f"no photo has one of the colours {', '.join(colours)} and one of the digits "
            f"{', '.join(digits)}."
        )
    return Photos([photos.images[n] for n in kept], photos.colours[kept], photos.digits[kept])


def _used(spoken: Recordings, colours: list[str], digits: list[str]) -> Recordings:
    wanted = {("c", word) for word in colours} | {("d", word) for word in digits}
    said = zip(spoken.kinds.tolist(), spoken.words.tolist(), strict=True)
    kept = [n for n, pair in enumerate(said) if pair in wanted]
    return Recordings([spoken.sounds[n] for n in kept], spoken.kinds[kept], spoken.words[kept])


_NAMES = {
    "default": "word types + exclusivity + discriminants, K unknown",
    "k_given": "the same, K given",
    "annealed": "good features, CCA + annealed EM, discriminants",
    "plain_em": "good features, CCA + plain EM, discriminants",
    "variational": "good features, CCA + variational mixture, discriminants, K unknown",
    "control": "control: good features, attributes at random",
    "faithful": "the paper's method",
}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.cards", __doc__ or "")
    parser.add_argument("--images", type=Path, required=True, metavar="DIR", help="photos")
    parser.add_argument("--test", type=Path, metavar="DIR", help="other photos to test on")
    parser.add_argument("--speech", type=Path, required=True, metavar="DIR", help="recordings")
    parser.add_argument("--seeds", type=int, default=50, help="how many draws of the pairs")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="training pairs per attribute")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of the draws (0)")
    parser.add_argument("--only", nargs="+", choices=list(_NAMES), help="these methods alone")
    options = parser.parse_args(arguments)
    if options.seeds < 1 or options.pairs < 10:
        parser.error("at least 1 seed and 10 pairs are needed")
    results = measure(
        options.images,
        options.speech,
        test=options.test,
        seeds=options.seeds,
        first=options.first_seed,
        pairs=options.pairs,
        only=options.only,
    )
    print_report(
        results,
        as_json=options.json,
        title=f"Colour and digit of {results['test_photos']} photos, {results['seeds']} seeds "
        f"(chance {results['chance']:.3f})",
        columns=[
            Column("row", "", justify="left"),
            *(Column(key, key.replace("_", " "), ".3f") for key in _HEADLINE),
            Column("assignment", "assignment", ".3f"),
        ],
        rows=[{"row": _NAMES[key]} | row for key, row in results["rows"].items()],
    )


if __name__ == "__main__":
    run_main(main)
