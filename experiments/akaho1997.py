"""Akaho et al. (1997): colour, shape and size of number blocks from images and single spoken words.

Run with ``python -m experiments.akaho1997 [--seeds N] [--grid] [--json]``. The paper's photos and
voices are lost, so blocks are rendered (10 shapes, 4 colours, 3 sizes, 29 pictures of each) and its
17 Japanese words are spoken by two synthetic voices (extra ``voices``). Per seed 200 pairs for each
attribute are drawn; which attribute a word names is not said. The system must then say all three
words for pictures it never saw. The paper reports 75.8 % on average (65 to 90 %) after 30 steps.
``--grid`` measures all readings of the paper's method instead.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.attribute_scores import Scored, evaluate
from experiments.number_blocks import COLOURS, SHAPES, SIZES, WORDS, Blocks, render_blocks
from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.voices import Speaker
from wordsight.attributes import (
    FAITHFUL,
    RECOMMENDED,
    AttributeLearner,
    AttributeSettings,
    Lessons,
    Sound,
    describe_pictures,
)
from wordsight.attributes.features.speech import speech_features

__all__ = ["main", "measure"]

Array = NDArray[np.float64]
Labels = NDArray[np.intp]

VOICES = ("ja+m1", "ja+m3")
PAIRS, TESTS = 200, 200
PER_CATEGORY, PER_VOICE = 29, 10
CHANCE = round((1 / len(COLOURS) + 1 / len(SHAPES) + 1 / len(SIZES)) / 3, 3)
PAPER = {"mean": 0.758, "min": 0.65, "max": 0.90}


@dataclass(frozen=True, eq=False)
class Material:
    """Described pictures and recordings.

    Attributes:
        kinds: Picture features.
        truth: ``(N, 3)`` colour, shape and size of each picture.
        speech: ``(M, S)`` recordings.
        words: ``(M,)`` what each says.
    """

    kinds: tuple[Array, ...]
    truth: NDArray[np.str_]
    speech: Array
    words: NDArray[np.str_]

    def draw(self, seed: int, pairs: int) -> tuple[Lessons, NDArray[np.str_], Labels, Labels]:
        """Draw pairs; also return the words really said, what they meant, and test pictures."""
        random = np.random.default_rng(seed)
        order = random.permutation(len(self.truth))
        tests, train = order[:TESTS], order[TESTS:]
        pictures, recordings, attributes = [], [], []
        for attribute in range(self.truth.shape[1]):
            for picture in random.choice(train, pairs):
                pictures.append(picture)
                right = np.flatnonzero(self.words == self.truth[picture, attribute])
                recordings.append(random.choice(right))
                attributes.append(attribute)
        nothing = (None,) * len(pictures)
        lessons = Lessons(
            tuple(kind[pictures] for kind in self.kinds),
            nothing,
            self.speech[recordings],
            nothing,
        )
        return lessons, self.words[recordings], np.array(attributes, dtype=np.intp), tests


def record(random_state: int = 0) -> tuple[list[Sound], NDArray[np.str_]]:
    """Let both voices say every word several times."""
    speaker, random = Speaker(), np.random.default_rng(random_state)
    sounds: list[Sound] = []
    words: list[str] = []
    for word, spelling in WORDS.items():
        said = speaker.recordings(spelling, VOICES, PER_VOICE, random)
        sounds += said
        words += [word] * len(said)
    return sounds, np.array(words)


def describe(
    blocks: Blocks, sounds: list[Sound], words: NDArray[np.str_], settings: AttributeSettings
) -> Material:
    """Describe pictures and recordings with the features of some settings."""
    return Material(
        describe_pictures(blocks.images, settings.pictures),
        blocks.truth,
        speech_features(settings.speech).describe(sounds),
        words,
    )


def measure(
    *, seeds: int = 50, first: int = 0, pairs: int = PAIRS, per_category: int = PER_CATEGORY
) -> dict[str, Any]:
    """Run our method and the paper's over seeds."""
    say("rendering pictures and speaking words")
    blocks = render_blocks(per_category)
    sounds, words = record()
    good = describe(blocks, sounds, words, RECOMMENDED)
    old = describe(blocks, sounds, words, FAITHFUL)
    drawn, given = range(first, first + seeds), {"num_attributes": 3}
    rows = _rows(good, RECOMMENDED, drawn, pairs, "recommended")
    rows |= _rows(good, replace(RECOMMENDED, **given), drawn, pairs, "k_given")
    variational = replace(RECOMMENDED, method="variational")
    rows |= _rows(good, variational, drawn, pairs, "variational")
    rows |= _rows(old, replace(FAITHFUL, **given), drawn, pairs, "faithful")
    head = {key: rows["recommended"][key] for key in ("mean", "min", "max", "k_found")}
    return head | {
        "recommended": rows["recommended"],
        "faithful": rows["faithful"],
        "oracle": rows["k_given_oracle"],
        "chance": CHANCE,
        "paper": PAPER,
        "seeds": seeds,
        "first_seed": first,
        "pairs_per_attribute": pairs,
        "pictures": len(blocks.images),
        "recordings": len(sounds),
        "rows": rows,
    }


def _rows(
    material: Material, settings: AttributeSettings, seeds: range, pairs: int, name: str
) -> dict[str, dict[str, Any]]:
    """Return the row of a method, of its start where it has one, and with the true attributes."""
    found: dict[str, list[Scored]] = {}
    for number, seed in enumerate(seeds):
        if number % 10 == 0:
            say(f"{name}: seed {number} of {len(seeds)}")
        for key, one in _scored(material, settings, seed, pairs).items():
            found.setdefault(name + key, []).append(one)
    rows = {key: _row(scored) for key, scored in found.items()}
    say(f"{rows}")
    return rows


def _row(scored: list[Scored]) -> dict[str, Any]:
    rates = [one.rate for one in scored]
    by_attribute = np.mean([one.by_attribute for one in scored], axis=0)
    return {
        "mean": round(float(np.mean(rates)), 4),
        "min": round(float(np.min(rates)), 4),
        "max": round(float(np.max(rates)), 4),
        "colour": round(float(by_attribute[0]), 4),
        "shape": round(float(by_attribute[1]), 4),
        "size": round(float(by_attribute[2]), 4),
        "k_found": round(float(np.mean([one.num_attributes == 3 for one in scored])), 4),
        "k_found_by_mdl": round(float(np.mean([one.num_by_length == 3 for one in scored])), 4),
        "k_found_by_aic": round(float(np.mean([one.num_by_aic == 3 for one in scored])), 4),
        "k_found_by_bic": round(float(np.mean([one.num_by_bic == 3 for one in scored])), 4),
        "assignment": round(float(np.mean([one.assignment for one in scored])), 4),
    }


def _scored(
    material: Material, settings: AttributeSettings, seed: int, pairs: int
) -> dict[str, Scored]:
    """Score a method, where EM started if it has such a place, and with the true attributes."""
    lessons, words, attributes, tests = material.draw(seed, pairs)
    learner = AttributeLearner(replace(settings, random_state=seed)).fit_lessons(lessons)
    kinds, truth = [kind[tests] for kind in material.kinds], material.truth[tests]
    scored = {"": evaluate(learner, kinds, truth, words, attributes)}
    mixture = learner.attribution_.mixture
    if mixture is not None:
        learner.regroup(mixture.start_responsibilities_.argmax(axis=1))
        scored["_start"] = evaluate(learner, kinds, truth, words, attributes)
    if settings.num_attributes is not None:
        learner.regroup(attributes)
        scored["_oracle"] = evaluate(learner, kinds, truth, words, attributes)
    return scored


_NAMES = {
    "recommended": "the package's default, K unknown",
    "k_given": "the same, K given",
    "k_given_oracle": "the same, true attributes given",
    "variational": "the same features, a variational mixture, K unknown",
    "variational_start": "the same at its start",
    "faithful": "the paper's method after EM, here",
    "faithful_start": "the paper's method at step 0, here",
    "faithful_oracle": "the paper's features and nearest neighbours, true attributes given",
}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.akaho1997", __doc__ or "")
    parser.add_argument("--seeds", type=int, help="how many draws of the pairs (50; 2 with --grid)")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them (0)")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="training pairs per attribute")
    parser.add_argument("--pictures", type=int, help="of each combination (29; 8 with --grid)")
    parser.add_argument("--grid", action="store_true", help="all readings of the paper's method")
    options = parser.parse_args(arguments)
    seeds = options.seeds or (2 if options.grid else 50)
    pictures = options.pictures or (8 if options.grid else PER_CATEGORY)
    if seeds < 1 or options.pairs < 20 or pictures < 3:
        parser.error("at least 1 seed, 20 pairs and 3 pictures are needed")
    if options.grid:
        _print_grid(seeds, pictures, as_json=options.json)
        return
    results = measure(
        seeds=seeds, first=options.first_seed, pairs=options.pairs, per_category=pictures
    )
    keys = ("mean", "min", "max", "colour", "shape", "size", "k_found", "assignment")
    rows = [{"row": _NAMES[key]} | row for key, row in results["rows"].items()]
    print_report(
        results,
        as_json=options.json,
        title=f"Colour, shape and size of number blocks, {results['seeds']} seeds",
        columns=[
            Column("row", "", justify="left"),
            *(Column(key, key.replace("_", " "), ".3f") for key in keys),
        ],
        rows=[*rows, {"row": "the paper, its own photos and voices"} | PAPER],
        notes=[f"Chance is {CHANCE:.3f}."],
    )


def _print_grid(seeds: int, pictures: int, *, as_json: bool) -> None:
    from experiments.akaho1997_grid import measure_grid

    results = measure_grid(seeds=seeds, per_category=pictures)
    wholes = [{"factor": name, "level": ""} | results[name] for name in ("printed", "best")]
    changes = [one | {"factor": f"printed, but {one['factor']}"} for one in results["one_change"]]
    means = [
        one | {"factor": f"mean over all cells, {one['factor']}"} for one in results["effects"]
    ]
    print_report(
        results,
        as_json=as_json,
        title=f"Readings of the paper's method, {len(results['cells'])} cells of {seeds} seeds",
        columns=[
            Column("factor", "", justify="left"),
            Column("level", "", "g", justify="left"),
            Column("em", "attributes by EM", ".3f"),
            Column("oracle", "true attributes", ".3f"),
            Column("from_truth", "EM from the truth", ".3f"),
        ],
        rows=[*wholes, *changes, *means],
        notes=[
            f"Chance is {CHANCE:.3f}; the paper reports {PAPER['mean']:.3f}.",
            f"Best: {results['best']}.",
            "Directions with a correlation above .5, by ridge (the paper speaks of about ten): "
            f"{results['above_half']}.",
        ],
    )


if __name__ == "__main__":
    run_main(main)
