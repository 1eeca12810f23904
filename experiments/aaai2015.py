"""Say what happens: the protocol of Yu & Siskind (AAAI 2015) on the street world.

Run with ``python -m experiments.aaai2015 [--clips 61] [--seed 0] [--folder DIR] [--json]``. Learns
words in two places, describes every clip of the third with the one sentence that fits best, found
by beam search over the grammar, and asks the world whether it is true; for each of three places.
``words_to_fix`` is the mean number of words that must be replaced to make a sentence true, by part
of speech.

Rows: ``random`` is a sentence of the grammar by chance; ``blind`` the one that was said of most
training clips; ``ml`` is maximum likelihood with calibration, ``discriminative`` the default model,
trained by gradient, ``growth`` the same by growth transformations, as the paper trains;
``hand`` has meanings written by hand. The published row is about other films: 94 clips in four
places.
"""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report import Column, print_report, report_parser, run_main, say
from experiments.street_corpus import SIGHTS, StreetClip, labelled, named_by_hand, see_street
from experiments.street_repairs import PARTS, repairs
from wordsight.errors import WordsightError
from wordsight.language import default_lexicon, parse
from wordsight.meaning import ON_FILM, LearnedLexicon, TrainingSettings, WordLearner
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.records import Sentence
from wordsight.worlds import street
from wordsight.worlds.street import street_sentences

__all__ = ["PUBLISHED", "main", "measure"]

PUBLISHED = {
    "accuracy": {"random": 0.0, "blind": 0.06, "ml": 0.26, "discriminative": 0.45, "hand": 0.63},
    "words_to_fix": {"ml": 2.03, "discriminative": 1.06},
}
"""What the paper reports."""

ROWS = ("random", "blind", "ml", "discriminative", "growth", "hand")

_BEAM = 8
_Speaker = Callable[[StreetClip], Sentence | None]


def measure(
    clips: int,
    seed: int,
    folder: Path,
    *,
    sight: str = "rendered",
    settings: TrainingSettings | None = None,
    threads: int = 2,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        clips: How many films; three or more, so that there are three places.
        seed: Of films and learning.
        folder: Where videos and library are kept.
        sight: What is looked at.
        settings: How to learn; the defaults if left out.
        threads: How many threads may be used.

    Returns:
        Shares of true sentences and words to fix per row, as plain values.
    """
    items = see_street(list(street(clips, seed)), sight, folder)
    chosen = settings or replace(ON_FILM, random_state=seed)
    told: dict[str, list[tuple[StreetClip, Sentence | None]]] = {row: [] for row in ROWS}
    for place in dict.fromkeys(item.place for item in items):
        training = [item for item in items if item.place != place]
        if not training:
            raise WordsightError("three places are needed to leave one out; ask for 3 clips.")
        testing = [item for item in items if item.place == place]
        train, test = labelled(training, testing, 0, seed)
        for row, (speaker, clips_seen) in _speakers(train, test, chosen, threads).items():
            told[row] += [(item, speaker(item)) for item in clips_seen]
        say(f"{place}: " + ", ".join(f"{row} {_accuracy(told[row]):.3f}" for row in ROWS))
    return {
        "accuracy": {row: round(_accuracy(told[row]), 4) for row in ROWS},
        "words_to_fix": {row: _to_fix(told[row]) for row in ROWS},
        "clips": len(items),
        "published": PUBLISHED,
    }


def _speakers(
    train: Sequence[StreetClip],
    test: Sequence[StreetClip],
    settings: TrainingSettings,
    threads: int,
) -> dict[str, tuple[_Speaker, Sequence[StreetClip]]]:
    learner, growing = (
        WordLearner(settings, threads=threads, discriminative=way).fit(
            [item.clip for item in train],
            [list(item.film.sentences) for item in train],
            lexicon=default_lexicon(),
        )
        for way in ("gradient", "growth")
    )
    named = named_by_hand(train, test)
    hand = hand_lexicon(named[0].clip.detections.label_names, view_settings=settings.view_settings)
    said = Counter(text for item in train for text in item.film.sentences)
    usual = parse(said.most_common(1)[0][0], default_lexicon())
    every, rng = street_sentences(3), np.random.default_rng(settings.random_state)
    return {
        "random": (lambda item: every[int(rng.integers(len(every)))], test),
        "blind": (lambda item: usual, test),
        "ml": (_describing(learner.calibrated_), test),
        "discriminative": (_describing(learner.lexicon_), test),
        "growth": (_describing(growing.lexicon_), test),
        "hand": (_describing(hand), named),
    }


def _describing(lexicon: LearnedLexicon) -> _Speaker:
    def speak(item: StreetClip) -> Sentence | None:
        found = lexicon.describe(item.clip, top=1, beam=_BEAM, only_true=False)
        return parse(found[0].text, default_lexicon()) if found else None

    return speak


def _accuracy(told: Sequence[tuple[StreetClip, Sentence | None]]) -> float:
    true = [said is not None and item.film.truth.holds(said) for item, said in told]
    return float(np.mean(true)) if true else 0.0


def _to_fix(told: Sequence[tuple[StreetClip, Sentence | None]]) -> dict[str, float]:
    counts = [repairs(item.film, said) for item, said in told if said is not None]
    found = {part: float(np.mean([count[part] for count in counts] or [0])) for part in PARTS}
    found["total"] = sum(found.values())
    return {part: round(value, 3) for part, value in found.items()}


def _print(results: dict[str, Any], as_json: bool) -> None:
    columns = [
        Column("row", "", justify="left"),
        Column("accuracy", "true sentences", ".3f"),
        Column("published", "published", ".2f"),
        *(Column(part, f"{part}s to fix", ".2f") for part in PARTS),
        Column("total", "words to fix", ".2f"),
    ]
    rows = [
        {"row": row, "accuracy": results["accuracy"][row]}
        | {"published": PUBLISHED["accuracy"].get("discriminative" if row == "growth" else row)}
        | results["words_to_fix"][row]
        for row in ROWS
    ]
    title = f"Describing {results['clips']} clips of the street, three places as folds"
    print_report(results, as_json=as_json, title=title, columns=columns, rows=rows)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.aaai2015", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="how many films")
    parser.add_argument("--seed", type=int, default=0, help="of films and learning")
    parser.add_argument("--folder", type=Path, help="keeps films and library for the next run")
    sights = [sight for sight in SIGHTS if sight in ("rendered", "objects", "truth")]
    parser.add_argument("--see", choices=sights, default="rendered", help="what is looked at")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as spare:
        results = measure(
            options.clips,
            options.seed,
            options.folder or Path(spare),
            sight=options.see,
            threads=options.threads,
        )
    _print(results, options.json)


if __name__ == "__main__":
    run_main(main)
