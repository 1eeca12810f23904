"""What attributes can be besides one word per picture: four small tasks, each with its control.

Run with ``python -m experiments.attribute_structure --images DIR [--seeds N] [--parts PART ...]
[--json]``; DIR holds the photos of number cards. All words are written; the number of attributes is
not given.

``sources``: rendered blocks that are also knocked at and weighed. Colour and shape can be seen,
material (wood, metal, glass) can only be heard, and weight only be felt; ``control`` learns from
the pictures alone. ``nonlinear``: an object's temperature is *pleasant* or *extreme* (too hot or
too cold), and its two handles are *even* or *odd* (rough and smooth), beside its colour;
``control`` has linear maps. ``senses``: on real photos "orange" is said of green cards and of
sevens; ``control`` has one attribute for each word. ``hierarchy``: on real photos cards are also
called warm (red, yellow) or cold (green, blue) and few (up to four) or many; ``found`` is the share
of these words whose words beneath are found exactly, ``control`` takes them for words like others.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.cards import read_photos
from experiments.number_blocks import render_blocks
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.attributes import AttributeLearner, Lessons, Sound, describe_pictures
from wordsight.attributes.features.speech import speech_features

__all__ = ["main", "measure"]

Array = NDArray[np.float64]

PAIRS = 150
"""Lessons per attribute."""
TESTS = 100
_TONES = {"wood": (310, 0.03), "metal": (1900, 0.25), "glass": (3100, 0.08)}
_WARM = {"red": "warm", "yellow": "warm", "green": "cold", "blue": "cold"}
_FEW = ("zero", "one", "two", "three", "four")
_RATE = 16_000


def measure(images: Path | None, *, seeds: int, first: int, parts: Sequence[str]) -> dict[str, Any]:
    """Run the parts over seeds."""
    results: dict[str, Any] = {"seeds": seeds, "first_seed": first, "rows": {}}
    cards = None
    if {"senses", "hierarchy"} & set(parts):
        if images is None:
            raise SystemExit("--images is needed for senses and hierarchy.")
        photos = read_photos(images)
        truth = np.stack([photos.colours, photos.digits], axis=1)
        cards = (describe_pictures(photos.images), truth)
    for part in parts:
        rows = [_PARTS[part](seed, cards) for seed in range(first, first + seeds)]
        mean = {key: round(float(np.mean([row[key] for row in rows])), 4) for key in rows[0]}
        least = round(min(row["right"] for row in rows), 4)
        results["rows"][part] = mean | {"min": least}
        say(f"{part}: {results['rows'][part]}")
    return results


def _lessons(kinds: Sequence[Array], words: Sequence[str], sources: Sequence[str] = ()) -> Lessons:
    silent = (None,) * len(words)
    return Lessons(tuple(kinds), tuple(words), np.zeros((len(words), 0)), silent, tuple(sources))


def _draw(
    count: int, attributes: int, random: np.random.Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the picture and the attribute of each lesson, and other pictures to test on."""
    order = random.permutation(count)
    shown = np.concatenate([random.choice(order[TESTS:], PAIRS) for _ in range(attributes)])
    return shown, np.repeat(np.arange(attributes), PAIRS), order[:TESTS]


def _right(learner: AttributeLearner, kinds: Sequence[Array], truth: NDArray[np.str_]) -> float:
    """Return the share of true words that are said; an attribute too many costs its share."""
    namings = learner.namings(learner.recall(kinds))
    said = [{a.word for a in one.attributes} for one in namings]
    right = sum(
        word in words for words, row in zip(said, truth, strict=True) for word in row.tolist()
    )
    return float(right / (len(truth) * max(truth.shape[1], learner.num_attributes_)))


def _sources(seed: int, _: Any) -> dict[str, float]:
    random = np.random.default_rng(seed)
    blocks = render_blocks(4, random_state=seed)
    count = len(blocks.images)
    material = random.choice(list(_TONES), count)
    weight = random.choice(["heavy", "light"], count)
    knocks = speech_features("recommended").describe([_knock(one, random) for one in material])
    grams = np.where(weight == "heavy", 300.0, 150.0) * np.exp(0.15 * random.normal(size=count))
    pictures = describe_pictures(blocks.images)
    truth = np.column_stack([blocks.truth[:, :2], material, weight])
    every = (*pictures, knocks, grams[:, None])
    shown, meant, tests = _draw(count, 4, random)
    words = truth[shown, meant].tolist()
    rates = {}
    for key, kinds, names in (("right", every, ("knock", "weight")), ("control", pictures, ())):
        learner = AttributeLearner(random_state=seed)
        learner.fit_lessons(_lessons([kind[shown] for kind in kinds], words, names))
        rates[key] = _right(learner, [kind[tests] for kind in kinds], truth[tests])
        if key == "right":
            rates["found"] = float(learner.num_attributes_ == 4)
    return rates


def _knock(material: str, random: np.random.Generator) -> Sound:
    """A damped tone with an overtone and noise, never quite the same."""
    pitch, length = _TONES[material]
    time = np.arange(int(0.3 * _RATE)) / _RATE
    tone = sum(
        np.sin(2 * np.pi * pitch * k * random.uniform(0.9, 1.1) * time) / k for k in (1.0, 2.3)
    )
    samples = 0.4 * tone * np.exp(-time / (length * random.uniform(0.7, 1.4)))
    return Sound((samples + 0.01 * random.normal(size=len(time))).astype(np.float32), _RATE)


def _nonlinear(seed: int, _: Any) -> dict[str, float]:
    random = np.random.default_rng(seed)
    count = 500
    heat = random.choice([-1, 0, 1], count, p=[0.25, 0.5, 0.25])
    sides = random.integers(0, 2, (count, 2))
    hue = random.integers(0, 3, count)
    truth = np.column_stack(
        [
            np.array(["red", "green", "blue"])[hue],
            np.where(heat == 0, "pleasant", "extreme"),
            np.where(sides[:, 0] == sides[:, 1], "even", "odd"),
        ]
    )
    kinds = (
        np.eye(3)[hue] + 0.15 * random.normal(size=(count, 3)),
        (20 + 25 * heat + 5 * random.normal(size=count))[:, None],
        sides + 0.15 * random.normal(size=(count, 2)),
    )
    shown, meant, tests = _draw(count, 3, random)
    words, rates = truth[shown, meant].tolist(), {}
    for key, maps in (("right", "nonlinear"), ("control", "linear")):
        learner = AttributeLearner(random_state=seed, maps=maps)
        learner.fit_lessons(
            _lessons([kind[shown] for kind in kinds], words, ("colour", "heat", "touch"))
        )
        rates[key] = _right(learner, [kind[tests] for kind in kinds], truth[tests])
        if key == "right":
            rates["found"] = float(learner.num_attributes_ == 3)
    return rates


def _senses(seed: int, cards: Any) -> dict[str, float]:
    kinds, true = cards
    truth = np.where(np.isin(true, ["green", "seven"]), "orange", true)
    random = np.random.default_rng(seed)
    shown, meant, tests = _draw(len(truth), 2, random)
    lessons = _lessons([kind[shown] for kind in kinds], truth[shown, meant].tolist())
    rates = {}
    for key, related in (("right", True), ("control", False)):
        learner = AttributeLearner(random_state=seed, relations=related).fit_lessons(lessons)
        rates[key] = _both_right(learner, [kind[tests] for kind in kinds], truth[tests])
        if related:
            rates["found"] = float([w.name for w in learner.words_ if w.also] == ["orange"])
    return rates


def _both_right(
    learner: AttributeLearner, kinds: Sequence[Array], truth: NDArray[np.str_]
) -> float:
    """Return the share of attributes named rightly, each by its own words."""
    recalled = learner.recall(kinds)
    names = np.array([word.name for word in learner.words_])
    colour = int(learner.attribution_.words[names.tolist().index("red")])
    answers = [names[one.words] for one in recalled]
    if len(answers) != 2:
        return 0.0
    return float(np.mean([answers[colour] == truth[:, 0], answers[1 - colour] == truth[:, 1]]))


def _hierarchy(seed: int, cards: Any) -> dict[str, float]:
    kinds, true = cards
    warm = np.array([_WARM[colour] for colour in true[:, 0]])
    few = np.where(np.isin(true[:, 1], _FEW), "few", "many")
    truth = np.column_stack([true, warm, few])
    random = np.random.default_rng(seed)
    shown, meant, tests = _draw(len(truth), 4, random)
    lessons = _lessons([kind[shown] for kind in kinds], truth[shown, meant].tolist())
    wanted = {}
    for column, under in ((2, 0), (3, 1)):
        for upper in np.unique(truth[:, column]):
            own = truth[:, column] == upper
            wanted[str(upper)] = {str(one) for one in true[own, under]}
    rates = {}
    learner = AttributeLearner(random_state=seed).fit_lessons(lessons)
    found = {word.name: set(word.covers) for word in learner.words_ if word.covers}
    rates["found"] = float(np.mean([found.get(upper) == below for upper, below in wanted.items()]))
    namings = learner.namings(learner.recall([kind[tests] for kind in kinds]))
    said = [
        {a.word for a in one.attributes} | {w for a in one.attributes for w, _ in a.above}
        for one in namings
    ]
    rates["right"] = float(
        np.mean([[w in words for w in row] for words, row in zip(said, truth[tests], strict=True)])
    )
    flat = AttributeLearner(random_state=seed, relations=False).fit_lessons(lessons)
    rates["control"] = _right(flat, [kind[tests] for kind in kinds], truth[tests])
    return rates


_PARTS: dict[str, Callable[[int, Any], dict[str, float]]] = {
    "sources": _sources,
    "nonlinear": _nonlinear,
    "senses": _senses,
    "hierarchy": _hierarchy,
}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.attribute_structure", __doc__ or "")
    parser.add_argument("--images", type=Path, metavar="DIR", help="photos of number cards")
    parser.add_argument("--seeds", type=int, default=10, help="how many draws (10)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--parts", nargs="+", choices=list(_PARTS), default=list(_PARTS))
    options = parser.parse_args(arguments)
    if options.seeds < 1:
        parser.error("at least 1 seed is needed")
    results = measure(
        options.images, seeds=options.seeds, first=options.first_seed, parts=options.parts
    )
    print_report(
        results,
        as_json=options.json,
        title=f"Sources, nonlinear maps, meanings and words over words, {options.seeds} draws",
        columns=[
            Column("part", "", justify="left"),
            *(Column(key, key, ".3f") for key in ("right", "min", "control", "found")),
        ],
        rows=[{"part": part} | row for part, row in results["rows"].items()],
    )


if __name__ == "__main__":
    run_main(main)
