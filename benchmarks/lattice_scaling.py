"""How the lattice's time grows with detections, participants and clips, beside what it should be.

Run with ``python -m benchmarks.lattice_scaling [--json] [--quick]``. A full E-step (score,
posteriors, expected counts) over clips of 160 frames, in processor time of one core, the fastest of
several turns. Each table changes one number: ``detections`` J at two participants and a verb,
``participants`` P at eight detections, ``clips`` at two participants and eight detections.
``operations`` is how many times the additions and multiplications of the first row a row needs,
``time`` how many times as long it takes: where the second is not above the first, nothing grows
faster than the work itself.
"""

import argparse
import json
from collections.abc import Iterable

import numpy as np

from benchmarks.lattice import NUM_DETECTIONS, SENTENCES, VERB, Sentence, fastest, make_lattice
from wordsight.inference import expected_counts

__all__ = ["main", "measure"]

DETECTIONS = (4, 8, 16, 32)
PARTICIPANTS = (2, 3, 4)
CLIPS = (8, 32, 128, 512)
_SEVERAL = 8  # clips of one call where their number is not what changes


def measure(*, quick: bool = False) -> dict[str, list[dict[str, float]]]:
    """Measure everything; ``quick`` takes fewer turns and leaves out the largest of each."""
    turns, upto = (2, -1) if quick else (5, None)
    pair = SENTENCES["192"]
    several = [(P, _with(P), NUM_DETECTIONS, _SEVERAL) for P in PARTICIPANTS]
    return {
        "detections": _grown([(J, pair, J, _SEVERAL) for J in DETECTIONS][:upto], turns),
        "participants": _grown(several[:upto], turns),
        "clips": _grown([(n, pair, NUM_DETECTIONS, n) for n in CLIPS][:upto], turns),
    }


def _with(participants: int) -> Sentence:
    """Return a verb of two participants, with a noun for every participant."""
    nouns = tuple(((number,), 1) for number in range(participants))
    return Sentence(participants, (*nouns, VERB))


def _grown(cases: Iterable[tuple[int, Sentence, int, int]], turns: int) -> list[dict[str, float]]:
    """Time cases of a number, a sentence, detections and clips, each beside the first."""
    rows: list[dict[str, float]] = []
    for number, sentence, detections, clips in cases:
        random = np.random.default_rng(0)
        lattices = [make_lattice(sentence, random, count=detections) for _ in range(clips)]
        expected_counts(lattices)
        seconds = fastest(lambda lattices=lattices: expected_counts(lattices), turns)
        work = clips * _operations(sentence, detections)
        row = {"number": number, "milliseconds": 1000 * seconds, "work": work}
        first = rows[0] if rows else row
        row["operations"] = work / first["work"]
        row["time"] = row["milliseconds"] / first["milliseconds"]
        rows.append(row)
    return rows


def _operations(sentence: Sentence, detections: int) -> float:
    """Return additions and multiplications per frame that one clip needs at least."""
    states = [count for _, count in sentence.words if count > 1]
    nodes = float(detections) ** sentence.num_participants * float(np.prod(states))
    return nodes * (sentence.num_participants * detections + sum(states))


def main() -> None:
    """Print the figures as text or JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON only")
    parser.add_argument("--quick", action="store_true", help="fewer turns, smaller numbers")
    arguments = parser.parse_args()
    figures = measure(quick=arguments.quick)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, rows in figures.items():
        for row in rows:
            print(
                f"{row['number']:5.0f} {name:<12} {row['milliseconds']:9.2f} ms, "
                f"{row['time']:7.1f} times the first, at {row['operations']:7.1f} times the work"
            )


if __name__ == "__main__":
    main()
