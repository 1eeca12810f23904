"""Cross-situational learning of nouns from a mother's speech to her child (Rollins corpus).

Run with ``python -m experiments.rollins --data DIR [--json]``. DIR holds ``rollins.txt`` (a line of
words, a line of things in view, an empty line) and ``gold.txt`` (pairs of a word and what it
names). Reported are precision, recall and F of the learned pairs against the gold lexicon, beside
co-occurrence baselines whose thresholds are the best in hindsight, which flatters them. The
settings of the learner were looked at on this same corpus: take its figures as a sanity check.
"""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from experiments.baselines.noun_learner import NounLearner
from experiments.report import Column, print_report, report_parser, run_main
from wordsight.errors import FormatError

__all__ = ["main", "measure"]

Pair = tuple[str, str]
_MOST_PAIRS = 500  # of a ranking that are tried as a lexicon


def measure(data: Path) -> dict[str, Any]:
    """Learn the lexicon and score it, and the baselines, against the gold one."""
    utterances, scenes = read_corpus(data / "rollins.txt")
    gold = read_gold(data / "gold.txt")
    learner = NounLearner().fit(utterances, scenes)
    learned = {(noun.word, noun.thing) for noun in learner.nouns_}
    together = Counter(
        (word, thing)
        for words, things in zip(utterances, scenes, strict=True)
        for word in set(words)
        for thing in set(things)
    )
    heard = Counter(word for words in utterances for word in set(words))
    rates = {pair: count / heard[pair[0]] for pair, count in together.items()}
    return {
        "learned": _scored(learned, gold),
        "co_occurrence_best": _best_cut(together, gold),
        "conditional_best": _best_cut(rates, gold),
        "utterances": len(utterances),
        "words": len(learner.words_),
        "things": len(learner.things_),
        "gold_pairs": len(gold),
        "lexicon": [
            {
                "word": noun.word,
                "thing": noun.thing,
                "count": round(noun.count, 2),
                "gold": (noun.word, noun.thing) in gold,
            }
            for noun in learner.nouns_
        ],
    }


def read_corpus(path: Path) -> tuple[list[list[str]], list[list[str]]]:
    """Read words and things in view; lines in capitals are things."""
    utterances: list[list[str]] = []
    scenes: list[list[str]] = []
    for line in _lines(path):
        if not line.strip():
            continue
        if line == line.upper() and len(scenes) < len(utterances):
            scenes.append(line.split())
        else:
            scenes += [[]] * (len(utterances) - len(scenes))
            utterances.append(line.split())
    scenes += [[]] * (len(utterances) - len(scenes))
    return utterances, scenes


def read_gold(path: Path) -> set[Pair]:
    """Read the gold pairs of a word and what it names."""
    rows = [line.split() for line in _lines(path) if line.strip()]
    return {(row[0], row[1]) for row in rows if len(row) == 2}


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FormatError(
            f"{path} cannot be read; --data must name the folder of the Rollins corpus."
        ) from error


def _scored(found: set[Pair], gold: set[Pair]) -> dict[str, Any]:
    right = len(found & gold)
    precision, recall = right / max(1, len(found)), right / max(1, len(gold))
    f = 2 * precision * recall / (precision + recall) if right else 0.0
    return {
        "precision": round(precision, 3),
        "recall": round(recall, 3),
        "f": round(f, 3),
        "pairs": len(found),
    }


def _best_cut(scores: Mapping[Pair, float], gold: set[Pair]) -> dict[str, Any]:
    ranked = sorted(scores, key=lambda pair: (-scores[pair], pair))[:_MOST_PAIRS]
    cuts = (_scored(set(ranked[:count]), gold) for count in range(1, len(ranked) + 1))
    return max(cuts, key=lambda result: result["f"], default=_scored(set(), gold))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.rollins", __doc__ or "", "folder of the Rollins corpus")
    options = parser.parse_args(arguments)
    results = measure(options.data)
    names = {
        "learned": "learned",
        "conditional_best": "p(thing | word), best cut in hindsight",
        "co_occurrence_best": "co-occurrence, best cut in hindsight",
    }
    print_report(
        results,
        as_json=options.json,
        title=f"Nouns from {results['utterances']} utterances, {results['gold_pairs']} gold pairs",
        columns=[
            Column("row", "", justify="left"),
            Column("precision", "precision", ".3f"),
            Column("recall", "recall", ".3f"),
            Column("f", "F", ".3f"),
            Column("pairs", "pairs"),
        ],
        rows=[{"row": title} | results[key] for key, title in names.items()],
    )


if __name__ == "__main__":
    run_main(main)
