"""Instructions aligned with silent videos of a biology laboratory (Naim et al.'s data).

Run with ``python -m experiments.wetlab --data DIR [--json]``. DIR holds ``protocols/`` and
``video_blobs/``. Reported is step accuracy, the share of chunks aligned to a sentence of the right
step, as the mean over videos, for touches marked by hand (Anvil) and found by a program (vision).

No model sees a label. All videos of one kind are learned together, and the gold steps are used for
nothing but the score. But the default model, HSMM and LCRF were designed while looking at these
scores (their features, ranges and pooling), so on the published six videos they are scores on
development data: expect less on other videos.

``null`` judges every text against every video, learning from the other videos with their own texts:
the AUC of the gain over the clock, and the shares of right and wrong texts refused. ``absent`` is
the share of lines of steps that happened that are reported as not happened, default model.
``edited`` finds lines that do not happen: one step in seven is deleted from every text and as many
of other protocols are inserted; precision, recall and the share of happening lines that are
reported, over several draws, each video judged by the others with their edited texts. Lines of
steps that the annotators never saw do not count. ``calibration`` is the expected calibration error
of the sureness printed for each span, default model. ``ablations`` changes one LCRF in one way
each: its iterations, start, clock, durations and sets.
"""

import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.alignment_scores import (
    calibration_error,
    found_absent,
    printed_sureness,
    separation,
)
from experiments.data.wetlab import Recording, read_recordings
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.alignment import AlignmentError, Belonging, Instructions, Line, align_together
from wordsight.alignment.belonging import BelongingJudge
from wordsight.alignment.models import (
    HMM1,
    HMM2,
    HSMM,
    LCRF,
    LHMM1,
    LHMM2,
    AlignmentModel,
    DropDTW,
    Ensemble,
    LatentPerceptron,
    LatentSVM,
)
from wordsight.alignment.models.clock import clock_uniform
from wordsight.alignment.models.decoding import step_posterior
from wordsight.alignment.models.encoding import AlignmentVocabulary, encode, vocabulary_of
from wordsight.alignment.models.ensemble import learn_links
from wordsight.alignment.text.tagging import can_name_thing
from wordsight.errors import WordsightError

__all__ = ["edited_text", "main", "matching", "measure", "step_accuracy"]

Lines = NDArray[np.int64]

MODELS: dict[str, tuple[Callable[[], AlignmentModel], str]] = {
    "hmm1": (HMM1, "chunks"),
    "hmm2": (lambda: HMM2(opening="published"), "chunks"),
    "hmm2_exact": (HMM2, "chunks"),
    "lhmm1": (LHMM1, "chunks"),
    "lhmm2": (lambda: LHMM2(opening="published"), "chunks"),
    "dropdtw": (DropDTW, "chunks"),
    "lsp": (LatentPerceptron, "chunks, clock, steps"),
    "lssvm": (LatentSVM, "chunks, clock, steps"),
    "lcrf_single": (LCRF, "chunks, clock, steps"),
    "lcrf": (lambda: Ensemble(hsmm=0), "chunks, clock, steps"),
    "hsmm_single": (HSMM, "chunks, clock, steps, edges"),
    "hsmm": (lambda: Ensemble(lcrf=0), "chunks, clock, steps, edges"),
    "default": (Ensemble, "chunks, clock, steps, edges"),
}
"""Each row's model, and which inputs it uses besides nouns and things."""

ABLATIONS: dict[str, dict[str, Any]] = {
    "iterations_0": {"iterations": 0},
    "iterations_5": {"iterations": 5},
    "iterations_20": {},
    "iterations_60": {"iterations": 60},
    "zero_start_20": {"scale": 0.0, "warm_up": 0},
    "zero_start_60": {"scale": 0.0, "warm_up": 0, "iterations": 60},
    "zero_start_no_clock_60": {"scale": 0.0, "warm_up": 0, "iterations": 60, "clock": 0.0},
    "no_step_durations": {"growth": 0.0},
    "all_sets": {"sets": "all"},
    "observed_sets": {"sets": "observed"},
    "verbs_too": {"verbs": True},
    "sgd": {"optimiser": "sgd"},
    "adagrad": {"optimiser": "adagrad"},
}
"""Changes of one LCRF: its training, its start and what it knows, one at a time."""

_EDITED = 1 / 7  # share of steps deleted, and inserted
_DRAWS, _FIRST_DRAW = 12, 100
_EQUAL = 1e-6  # scores closer than this, relatively, are equal
_INPUTS = {"uniform": "number of chunks", "uniform_clock": "clock, steps"}
_PUBLISHED = {
    "anvil": {"hmm1": 0.828719, "hmm2": 0.862150, "lhmm1": 0.828719, "lhmm2": 0.855419},
    "vision": {"hmm1": 0.587161, "hmm2": 0.618253, "lhmm1": 0.581531, "lhmm2": 0.614733},
}


def measure(data: Path) -> dict[str, Any]:
    """Fit every model to the videos of each kind, and score all of them."""
    results: dict[str, Any] = {"anvil": {}, "vision": {}, "per_video": {}, "matching": {}}
    results |= {"confidence": {}, "calibration": {}, "null": {}, "absent": {}, "ablations": {}}
    results["edited"] = {}
    for kind, recordings in read_recordings(data).items():
        if not recordings:
            continue
        scores = _uniform_rows(recordings)
        for name, (make, _) in MODELS.items():
            say(f"{kind}: {name}")
            try:
                model = make().fit([(r.instructions, r.observed) for r in recordings])
                scores[name] = [
                    step_accuracy(r, model.predict(r.instructions, r.observed)) for r in recordings
                ]
            except AlignmentError as error:  # a video too short for a model that skips no line
                say(f"{kind}: {name} is left out: {error}")
                continue
            if name == "default":
                results["confidence"][kind] = confidence(model, recordings)
                results["calibration"][kind] = calibration(model, recordings)
                results["absent"][kind] = share_absent(model, recordings)
            rows = _matching_rows(name, model, recordings)
            results["matching"].setdefault(kind, {}).update(rows)
        results[kind] = {name: float(np.mean(row)) for name, row in scores.items()}
        results["per_video"][kind] = {
            name: {r.name: value for r, value in zip(recordings, row, strict=True)}
            for name, row in scores.items()
        }
        results["null"][kind] = null_texts(recordings)
        results["edited"][kind] = edited_texts(recordings)
        results["ablations"][kind] = ablations(kind, recordings)
    results["published"] = _PUBLISHED
    results["inputs"] = _INPUTS | {name: inputs for name, (_, inputs) in MODELS.items()}
    return results


def ablations(kind: str, recordings: Sequence[Recording]) -> dict[str, dict[str, float | None]]:
    """Return step accuracy and conditional log likelihood of one LCRF, changed in one way each."""
    rows = {}
    for name, settings in ABLATIONS.items():
        say(f"{kind}: LCRF, {name}")
        model = LCRF(**settings).fit([(r.instructions, r.observed) for r in recordings])
        scores = [step_accuracy(r, model.predict(r.instructions, r.observed)) for r in recordings]
        objective = model.objectives_[-1] if model.objectives_ else None
        rows[name] = {"accuracy": float(np.mean(scores)), "objective": objective}
    return rows


def step_accuracy(recording: Recording, lines: Lines) -> float:
    """Return the share of chunks aligned to a line of the right step.

    A chunk that a model leaves without a line counts for the line before it, as the measure knows
    no chunks without one.
    """
    found = np.flatnonzero(lines >= 0)
    if not len(found):
        return 0.0
    latest = np.maximum.accumulate(np.where(lines >= 0, np.arange(len(lines)), found[0]))
    return _share_right(recording, recording.instructions.steps[lines[latest]])


def _share_right(recording: Recording, steps: Lines) -> float:
    told = recording.gold >= 0
    return float((steps == recording.gold)[told].mean())


def matching(known: AlignmentVocabulary, links: NDArray[np.float64]) -> dict[str, float]:
    """Score a learned dictionary against equal names, which no model looks at.

    Names are equal but for a number at the end and a plural's "s". Precision is the share of nouns
    with a namesake whose best thing it is; recall the share of things with a namesake whose best
    noun it is. Of n that are equally good each counts 1/n: nouns that occur in the same sentences
    only cannot be told apart. Things found by a program carry hardly any names.

    Args:
        known: The nouns and things.
        links: ``(X, V)`` how strongly they are linked.
    """
    same = np.array([[_plain(n) == _plain(t) for t in known.things] for n in known.nouns])
    if not same.any():
        return {}
    nouns, things = same.any(axis=1), same.any(axis=0)
    precision = _share_best(links[nouns], same[nouns])
    recall = _share_best(links.T[things], same.T[things])
    both = precision + recall
    f1 = 2 * precision * recall / both if both else 0.0
    return {"precision": precision, "recall": recall, "f1": f1}


def _share_best(scores: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    best = scores >= scores.max(axis=1, keepdims=True) * (1.0 - _EQUAL)
    return float(((best & right).sum(axis=1) / best.sum(axis=1)).mean())


def _matching_rows(
    name: str, model: AlignmentModel, recordings: Sequence[Recording]
) -> dict[str, dict[str, float]]:
    """Score a model's own dictionary; HMM2's also learned from its steps, as the default's is."""
    known = model.vocabulary_
    rows = {name: matching(known, getattr(model, "links_", model.table_))}
    if name == "hmm2":
        pairs = [encode(r.instructions, r.observed, known) for r in recordings]
        posteriors = [model.posterior(r.instructions, r.observed) for r in recordings]
        naming = np.array([can_name_thing(noun) for noun in known.nouns])
        rows["hmm2_linked"] = matching(known, learn_links(pairs, posteriors, naming))
    return rows


def confidence(model: AlignmentModel, recordings: Sequence[Recording]) -> float:
    """Return how sure a model is of its steps, to be compared with how often it is right."""
    sure = [
        step_posterior(model.posterior(r.instructions, r.observed), r.instructions.steps)
        .max(axis=1)
        .mean()
        for r in recordings
    ]
    return float(np.mean(sure))


def calibration(model: AlignmentModel, recordings: Sequence[Recording]) -> float:
    """Return the expected calibration error of the sureness that is printed for each span."""
    sure, right = [], []
    for recording in recordings:
        found = model.align(recording.instructions, recording.observed)
        told = (recording.gold >= 0) & (found.best >= 0)
        sure.append(printed_sureness(found)[told])
        right.append(recording.instructions.steps[found.best[told]] == recording.gold[told])
    return calibration_error(np.concatenate(sure), np.concatenate(right))


def share_absent(model: AlignmentModel, recordings: Sequence[Recording]) -> float:
    """Return the share of lines of steps that happened that a model reports as not happened."""
    lines = absent = 0
    for recording in recordings:
        text, seen = recording.instructions, recording.observed
        verdict = _judge_without(recording, recordings).judge(text, seen)
        aligned = align_together(
            text, [seen], aligner=model, fit=False, belonging={seen.video_id: verdict}
        )
        happened = {span.line for span in aligned.alignments[0].spans if span.happened}
        for line, step in enumerate(recording.instructions.steps):
            if (recording.gold == step).any():
                lines += 1
                absent += line not in happened
    return absent / max(lines, 1)


def null_texts(recordings: Sequence[Recording]) -> dict[str, float]:
    """Judge whether each text belongs to each video, the pair left out of learning."""
    right: list[Belonging] = []
    wrong: list[Belonging] = []
    texts = {one.instructions.name: one.instructions for one in recordings}
    for recording in recordings:
        judge = _judge_without(recording, recordings)
        for name, text in texts.items():
            verdict = judge.judge(text, recording.observed)
            (right if name == recording.instructions.name else wrong).append(verdict)
    return separation(right, wrong)


def _judge_without(recording: Recording, recordings: Sequence[Recording]) -> BelongingJudge:
    return BelongingJudge(
        [(one.instructions, one.observed) for one in recordings if one is not recording]
    )


def edited_texts(recordings: Sequence[Recording], draws: int = _DRAWS) -> dict[str, float]:
    """Return how well lines that do not happen are found in texts with steps deleted and inserted.

    Returns:
        Precision and recall of "does not happen", the share of happening lines reported, that of
        all lines of which it cannot be told, and the numbers of lines of both kinds.
    """
    happens: list[NDArray[np.float64]] = []
    true: list[NDArray[np.bool_]] = []
    for draw in range(draws):
        random = np.random.default_rng(_FIRST_DRAW + draw)
        texts = [one.instructions for one in recordings]
        edits = [edited_text(r.instructions, r.gold, texts, random) for r in recordings]
        for number, (text, kinds) in enumerate(edits):
            others = [
                (other, one.observed)
                for place, ((other, _), one) in enumerate(zip(edits, recordings, strict=True))
                if place != number
            ]
            verdict = BelongingJudge(others).judge(text, recordings[number].observed)
            happens.append(verdict.happens[kinds >= 0])
            true.append(kinds[kinds >= 0] == 1)
    return found_absent(np.concatenate(happens), np.concatenate(true))


def edited_text(
    text: Instructions,
    happened: NDArray[np.int64],
    texts: Sequence[Instructions],
    random: np.random.Generator,
) -> tuple[Instructions, Lines]:
    """Return a text with steps deleted and foreign ones inserted, and the kind of each line.

    Kinds: 0 for a line whose step happens, 1 for an inserted one, -1 for others.

    Args:
        text: The text.
        happened: The steps that happen.
        texts: All texts; steps of others are inserted.
        random: Source of random numbers.
    """
    foreign = [
        [line for line in other.lines if line.step == step]
        for other in {one.name: one for one in texts}.values()
        if other.name != text.name
        for step in np.unique(other.steps)
    ]
    lines: list[Line] = []
    kinds: list[int] = []
    steps = np.unique(text.steps)
    deleted = random.random(len(steps)) < _EDITED
    deleted[random.integers(len(steps))] = False  # something remains
    for step, gone in zip(steps, deleted, strict=True):
        blocks = []
        if not gone:
            own = [line for line in text.lines if line.step == step]
            blocks.append((own, 0 if (happened == step).any() else -1))
        if foreign and random.random() < _EDITED:
            blocks.append((foreign[random.integers(len(foreign))], 1))
        for block, kind in blocks:
            number = lines[-1].step + 1 if lines else 0
            lines += [replace(line, step=number) for line in block]
            kinds += [kind] * len(block)
    return Instructions(text.name, tuple(lines)), np.array(kinds, dtype=np.int64)


def _plain(name: str) -> str:
    return re.sub(r"\d+$", "", name.lower()).removesuffix("s")


def _uniform_rows(recordings: Sequence[Recording]) -> dict[str, list[float]]:
    """Score splits that look at no touch: equal chunks per sentence, and the clock."""
    rows: dict[str, list[float]] = {"uniform": [], "uniform_clock": []}
    for recording in recordings:
        chunks, lines = len(recording.gold), len(recording.instructions.lines)
        even = np.arange(chunks) * lines // chunks
        rows["uniform"].append(step_accuracy(recording, even))
        pair = (recording.instructions, recording.observed)
        steps = clock_uniform(encode(*pair, vocabulary_of([pair])))
        numbers = np.unique(recording.instructions.steps)
        rows["uniform_clock"].append(_share_right(recording, numbers[steps]))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or one JSON object."""
    parser = report_parser("experiments.wetlab", __doc__ or "", "folder of the wet-lab data")
    options = parser.parse_args(arguments)
    try:
        results = measure(options.data)
    except WordsightError as error:
        sys.exit(f"error: {error}")
    rows = [
        {"model": name, "inputs": results["inputs"][name]}
        | {kind: results[kind].get(name) for kind in ("anvil", "vision")}
        | {f"{kind}_log": _PUBLISHED[kind].get(name) for kind in ("anvil", "vision")}
        for name in results["inputs"]
    ]
    columns = [
        Column("model", "model", justify="left"),
        Column("anvil", "Anvil", ".6f"),
        Column("anvil_log", "authors' log", ".6f"),
        Column("vision", "vision", ".6f"),
        Column("vision_log", "authors' log", ".6f"),
        Column("inputs", "inputs besides nouns and things", justify="left"),
    ]
    notes = [
        f"noun-object matching, {kind}, {name}: precision {row['precision']:.3f}, recall "
        f"{row['recall']:.3f}, F1 {row['f1']:.3f}"
        for kind, models in results["matching"].items()
        for name, row in models.items()
        if row
    ]
    notes += [
        f"probability of the best step, {kind}, default, on average: {sure:.3f}"
        for kind, sure in results["confidence"].items()
    ]
    title = "Wet-lab videos, mean step accuracy"
    print_report(
        results, as_json=options.json, title=title, columns=columns, rows=rows, notes=notes
    )


if __name__ == "__main__":
    run_main(main)
