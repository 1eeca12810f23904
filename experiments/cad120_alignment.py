"""Sentences timed against hands and objects: CAD-120, each video's sentences in order as its text.

Run with ``python -m experiments.cad120_alignment --data DIR [--test DIR2] [--json]``. DIR holds
``meta.json``, ``tracks.npz`` and ``clips.jsonl``. Nothing is learned from labels: the models see
the sentences, and which objects a hand holds or nears or that move, in chunks of a quarter second,
and how objects and hands move. When a sentence is true is used for scoring only. Without ``--test``
all videos of DIR are learned and aligned together; with it, models learn from DIR alone and align
the videos of DIR2, which they have not seen.

Step accuracy: at every tenth of a second that a labelled segment covers, whether the aligned
sentence is that of the segment; the mean over videos of each video's share.

Rows: ``accuracy`` averages semi-Markov models that know verbs and motion; ``nouns`` is the same
without those; ``hsmm`` one such model, ``ensemble`` the default of ``wordsight align``, ``hmm2``
the published model, all three with verbs. ``uniform`` splits the chunks evenly among the sentences,
``uniform_clock`` the time from the first chunk to the last. ``together``, with ``--test``, learns
from the unlabelled videos of both folders. ``left_out`` counts videos with fewer chunks than
sentences, which no model can align. Inputs: chunks, clock, lines; names of objects are
tokens like any other, and that they are words of the text is not used.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.baselines.pooled_words import pool_observed, pool_words
from experiments.baselines.tracked_things import Handling, Manners, TrackedThings
from experiments.data.cad120_procedures import Procedure, load_procedures
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.alignment import Instructions, Observed
from wordsight.alignment.models import HMM2, HSMM, AlignmentModel, Ensemble
from wordsight.errors import WordsightError

__all__ = ["main", "measure", "observe_procedure", "step_accuracy"]

HANDLING = Handling(
    reach=25.0,  # pixels from a hand to a box
    speed=40.0,  # pixels per second
    seconds=0.25,
    least_share=0.5,
    hands_too=True,
)
MANNERS = Manners(unit=40.0, slow=0.4, window=0.3)
_NEAR_HEAD = 60.0  # pixels; a hand as near as this feeds the mouth
_STEP = 0.1  # seconds between the moments scored

Pair = tuple[Instructions, Observed]


def observe_procedure(procedure: Procedure) -> Observed:
    """Return what the hands handle, chunk by chunk; objects of one name are one thing."""
    head = procedure.head
    around = _NEAR_HEAD - HANDLING.reach
    things = dict(procedure.things) | {"head": np.hstack([head - around, head + around])}
    source = TrackedThings(
        procedure.instructions.name, procedure.times, things, procedure.hands, HANDLING, MANNERS
    )
    seen = source.observe()
    chunks = [
        replace(chunk, things=frozenset(name.partition("#")[0] for name in chunk.things))
        for chunk in seen.chunks
    ]
    return replace(seen, chunks=tuple(chunks))


def step_accuracy(procedure: Procedure, observed: Observed, best: NDArray[np.int64]) -> float:
    """Return the share of labelled moments whose chunk has the right line.

    Args:
        procedure: The video with its labels.
        observed: Its chunks.
        best: ``(T,)`` the line of each chunk.
    """
    right = moments = 0
    middles = observed.times.mean(axis=1)
    for line, (start, end) in enumerate(procedure.spans):
        times = np.arange(start + _STEP / 2, end, _STEP)
        nearest = np.abs(times[:, None] - middles[None]).argmin(axis=1)
        right += int((best[nearest] == line).sum())
        moments += len(times)
    return right / moments if moments else 0.0


def measure(data: Path, test: Path | None = None) -> dict[str, float]:
    """Align all videos in every way.

    Args:
        data: Folder to learn from.
        test: Folder to align; the same one if left out.
    """
    learned = _observed(load_procedures(data))
    wanted = load_procedures(data if test is None else test)
    aligned = learned if test is None else _observed(wanted)
    if not learned or not aligned:
        raise WordsightError("no video has anything handled in it; is it the right folder?")
    results = {
        "uniform": _mean(aligned, [_uniform(*pair) for _, pair in aligned]),
        "uniform_clock": _mean(aligned, [_uniform_clock(*pair) for _, pair in aligned]),
        "videos": len(aligned),
        "left_out": len(wanted) - len(aligned),
    }
    train, targets = ([_pooled(pair) for _, pair in group] for group in (learned, aligned))
    results["hmm2"] = _score(HMM2(), train, targets, aligned)
    results["hsmm"] = _score(HSMM(), train, targets, aligned)
    results["ensemble"] = _score(Ensemble(), train, targets, aligned)
    results["accuracy"] = _score(_semi_markov(), train, targets, aligned)
    if test is not None:
        results["together"] = _score(_semi_markov(), [*train, *targets], targets, aligned)
    plain, plain_targets = ([_nouns_only(pair) for _, pair in g] for g in (learned, aligned))
    results["nouns"] = _score(_semi_markov(), plain, plain_targets, aligned)
    return {name: round(value, 4) for name, value in results.items()}


def _semi_markov() -> Ensemble:
    return Ensemble(hsmm=12, lcrf=0)


def _observed(procedures: Sequence[Procedure]) -> list[tuple[Procedure, Pair]]:
    pairs = [(p, (p.instructions, observe_procedure(p))) for p in procedures]
    # A model needs a chunk for every step; where less is seen there is nothing to align.
    return [(p, pair) for p, pair in pairs if len(pair[1].chunks) >= len(pair[0].lines)]


def _score(
    model: AlignmentModel,
    train: Sequence[Pair],
    targets: Sequence[Pair],
    aligned: Sequence[tuple[Procedure, Pair]],
) -> float:
    model.fit(train)
    found = _mean(aligned, [model.predict(*pair) for pair in targets])
    say(f"{type(model).__name__}: {found:.3f}")
    return found


def _mean(aligned: Sequence[tuple[Procedure, Pair]], best: Sequence[NDArray[np.int64]]) -> float:
    scores = [
        step_accuracy(procedure, pair[1], lines)
        for (procedure, pair), lines in zip(aligned, best, strict=True)
    ]
    return float(np.mean(scores))


def _pooled(pair: Pair) -> Pair:
    return pool_words(pair[0]), pool_observed(pair[1])


def _nouns_only(pair: Pair) -> Pair:
    lines = tuple(replace(line, verbs=()) for line in pair[0].lines)
    chunks = tuple(replace(chunk, verbs=frozenset()) for chunk in pair[1].chunks)
    return replace(pair[0], lines=lines), replace(pair[1], chunks=chunks)


def _uniform(instructions: Instructions, observed: Observed) -> NDArray[np.int64]:
    count = len(observed.chunks)
    return np.asarray(np.arange(count) * len(instructions.lines) // count, dtype=np.int64)


def _uniform_clock(instructions: Instructions, observed: Observed) -> NDArray[np.int64]:
    times = observed.times
    share = (times.mean(axis=1) - times[0, 0]) / (times[-1, 1] - times[0, 0])
    places = (share * len(instructions.lines)).astype(np.int64)
    return np.asarray(np.minimum(places, len(instructions.lines) - 1))


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser(
        "experiments.cad120_alignment", __doc__ or "", "folder of the CAD-120 data"
    )
    parser.add_argument("--test", type=Path, metavar="DIR2", help="folder of held-out data")
    options = parser.parse_args(arguments)
    results = measure(options.data, options.test)
    print_report(
        results,
        as_json=options.json,
        title="CAD-120, sentences timed against hands and objects: step accuracy",
        columns=[Column("row", "", justify="left"), Column("value", "", ".3f")],
        rows=[{"row": name.replace("_", " "), "value": value} for name, value in results.items()],
    )


if __name__ == "__main__":
    run_main(main)
