"""Sentences timed against hands and objects: CAD-120, each video's sentences in order as its text.

Run with ``python -m experiments.cad120_alignment --data DIR [--test DIR2] [--json]``. DIR holds
``meta.json``, ``tracks.npz`` and ``clips.jsonl``. Nothing is learned from labels: the models see
the sentences, and which objects a hand holds or nears or that move, in chunks of a quarter second,
and how objects and hands move. When a sentence is true is used for scoring only. Without ``--test``
all videos of DIR are learned and aligned together; with it, models learn from DIR alone and align
the videos of DIR2, which they have not seen.

Step accuracy: at every tenth of a second that a labelled segment covers, whether the aligned
sentence is that of the segment; the mean over videos of each video's share.

Rows: ``accuracy`` is the default of ``wordsight align`` (also under its earlier name ``ensemble``),
``motion`` one of its members; ``hsmm`` knows what is touched and in which manner things move,
``hmm2`` is the published model on the same tokens, ``nouns`` semi-Markov models with neither verbs
nor motion. ``uniform`` splits the chunks evenly among the sentences, ``uniform_clock`` the time
from the first chunk to the last. ``by_subject`` learns from the other subjects' videos alone (with
``--test`` from DIR, as ``accuracy``; where DIR holds one subject alone, five groups of its videos
take the place of subjects), and ``calibration`` is the expected calibration error of the sureness
that is printed, over the chunks of labelled segments there; ``together``, with ``--test``, learns
from the unlabelled videos of both folders.
``labelled`` is given the times of the sentences in ten videos, one of each activity: of the other
subjects, or of DIR. ``left_out`` counts videos with fewer chunks than sentences, which no model
can align. ``belonging`` pairs every video with its own text and with one of every other activity,
learns from the other subjects (with ``--test`` from DIR), and reports the AUC of the gain over the
clock, and which share of wrong and of right texts is refused. Its logistic scale was fitted on
DIR, so it is a development figure there. Inputs: boxes with names and identities, clock, lines.

``--words`` measures something else: words are learned from the labelled clips of the other
subjects, as ``experiments.cad120`` learns them, and say where the sentences of a subject's videos
fit, as by ``wordsight align --words``. By subject ``without`` and ``with`` them; the weight of what
words say was chosen on subject 1.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.alignment_scores import calibration_error, printed_sureness, separation
from experiments.cad120_scores import fit_words, view_of
from experiments.data.cad120 import load_segments, make_lexicon
from experiments.data.cad120_procedures import Procedure, load_procedures
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.alignment import Belonging, DetectedThings, Instructions, LineSpan, Observed
from wordsight.alignment.belonging import BelongingJudge
from wordsight.alignment.models import HMM2, HSMM, AlignmentModel, Ensemble, MotionHSMM
from wordsight.alignment.models.encoding import label_chunks
from wordsight.engine import Processes
from wordsight.errors import WordsightError
from wordsight.meaning import WordLearner
from wordsight.workflows.align_videos import sentence_fits

__all__ = ["belonging", "main", "measure", "measure_words", "observe_procedure", "step_accuracy"]

_LABELLED = 10  # videos
_GROUPS = 5  # of videos, where there is one subject
_STEP = 0.1  # seconds between the moments scored

Pair = tuple[Instructions, Observed]
Fold = tuple[Sequence[tuple[Procedure, Pair]], Sequence[tuple[Procedure, Pair]]]


def observe_procedure(procedure: Procedure) -> Observed:
    """Return what the hands handle and how it moves, as ``wordsight align`` observes it."""
    return DetectedThings(procedure.instructions.name, procedure.seen).observe()


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


def measure(data: Path, test: Path | None = None) -> dict[str, Any]:
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
    train, targets = ([pair for _, pair in group] for group in (learned, aligned))
    results["hmm2"] = _score(HMM2(), train, targets, aligned)
    results["hsmm"] = _score(HSMM(), train, targets, aligned)
    results["motion"] = _score(MotionHSMM(), train, targets, aligned)
    results["accuracy"] = results["ensemble"] = _score(Ensemble(), train, targets, aligned)
    folds = _by_subject(learned) if test is None else [(learned, aligned)]
    if test is not None:
        results["together"] = _score(Ensemble(), [*train, *targets], targets, aligned)
    if folds:
        results["by_subject"], results["calibration"] = _folded(folds, labelled=0)
        results["labelled"], _ = _folded(folds, labelled=_LABELLED)
    plain, plain_targets = ([_nouns_only(pair) for _, pair in g] for g in (learned, aligned))
    results["nouns"] = _score(Ensemble(hsmm=12, lcrf=0), plain, plain_targets, aligned)
    results = {name: round(value, 4) for name, value in results.items()}
    return results | {"belonging": belonging(learned, None if test is None else aligned)}


def _folded(folds: Sequence[Fold], labelled: int) -> tuple[float, float]:
    """Return step accuracy and calibration error on videos that were not learned from.

    Args:
        folds: Videos to learn from, and videos to align.
        labelled: How many of those to learn from are given with the times of their lines.
    """
    scores, sure, right = [], [], []
    for learned, aligned in folds:
        chosen = _one_per_activity(learned, labelled)
        labels = {procedure.instructions.name: _spans(procedure) for procedure in chosen}
        model = Ensemble().fit([pair for _, pair in learned], labels=labels)
        model.least_evidence, model.least_confidence = None, 0.0  # every video counts
        for procedure, pair in aligned:
            found = model.align(*pair)
            scores.append(step_accuracy(procedure, pair[1], found.best))
            truth = label_chunks(pair[1], _spans(procedure))
            sure.append(printed_sureness(found)[truth >= 0])
            right.append((found.best == truth)[truth >= 0])
        say(f"{len(labels)} labelled, {len(learned)} learned: {np.mean(scores):.3f} so far")
    return float(np.mean(scores)), calibration_error(np.concatenate(sure), np.concatenate(right))


def measure_words(data: Path) -> dict[str, Any]:
    """Align each subject's videos without and with words learned from the other subjects."""
    videos = _observed(load_procedures(data))
    subjects = sorted({procedure.subject for procedure, _ in videos})
    rows = {}
    for outcome in Processes(len(subjects)).map(_with_words, [(data, s) for s in subjects]):
        if outcome.result is None:
            raise WordsightError(f"{outcome.item[1]}: {outcome.error}")
        rows[outcome.item[1]] = outcome.result
    counts = [sum(procedure.subject == subject for procedure, _ in videos) for subject in subjects]
    means = {
        name: float(np.average([rows[s][name] for s in subjects], weights=counts))
        for name in ("without", "with")
    }
    return rows | {"all": means}


def _with_words(task: tuple[Path, str]) -> dict[str, float]:
    data, subject = task
    segments = load_segments(data, "tracks")
    grammar = make_lexicon({name for segment in segments for name in segment.objects})
    train = [segment for segment in segments if segment.subject != subject]
    lexicon = fit_words(WordLearner(view_settings=view_of("tracks")), train, grammar).lexicon_
    lexicon = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    videos = _observed(load_procedures(data))
    aligned = [one for one in videos if one[0].subject == subject]
    model = Ensemble().fit([pair for procedure, pair in videos if procedure.subject != subject])
    told = []
    for procedure, (text, seen) in aligned:
        sentences = {line.text: lexicon.sentence(line.text) for line in text.lines}
        fits = sentence_fits(lexicon, procedure.seen, sentences, seen)
        told.append((text, replace(seen, fits=fits)))
    return {
        "without": _mean(aligned, [model.predict(*pair) for _, pair in aligned]),
        "with": _mean(aligned, [model.predict(*pair) for pair in told]),
    }


def _spans(procedure: Procedure) -> list[LineSpan]:
    rows = procedure.spans.tolist()
    return [LineSpan(line, start, end, 1.0) for line, (start, end) in enumerate(rows)]


def _one_per_activity(videos: Sequence[tuple[Procedure, Pair]], count: int) -> list[Procedure]:
    """Return videos in random order, first one of each activity, then others."""
    order = np.random.default_rng(0).permutation(len(videos))
    procedures = [videos[number][0] for number in order]
    first = {procedure.activity: procedure for procedure in reversed(procedures)}
    leading = [p for p in procedures if first[p.activity] is p]
    return [*leading, *(p for p in procedures if first[p.activity] is not p)][:count]


def belonging(
    learned: Sequence[tuple[Procedure, Pair]],
    tested: Sequence[tuple[Procedure, Pair]] | None = None,
) -> dict[str, float]:
    """Measure how well texts that belong to their videos are separated from others.

    Args:
        learned: The videos to learn from.
        tested: The videos to judge; by default those of each subject, learning from the others.
    """
    folds = [(learned, tested)] if tested is not None else _by_subject(learned)
    right: list[Belonging] = []
    wrong: list[Belonging] = []
    random = np.random.default_rng(0)
    for others, judged in folds:
        judge = BelongingJudge([pair for _, pair in others])
        for procedure, (text, seen) in judged:
            right.append(judge.judge(text, seen))
            for foreign in _foreign_texts(procedure, judged, random):
                if len(foreign.lines) <= len(seen.chunks):
                    wrong.append(judge.judge(foreign, seen))
        say(f"belonging: {len(right)} right and {len(wrong)} wrong texts judged")
    return separation(right, wrong) if wrong else {}


def _by_subject(videos: Sequence[tuple[Procedure, Pair]]) -> list[Fold]:
    """Return the videos of the other subjects and those of each subject.

    Of one subject alone, groups of videos are left out in turn; none where there is one video.
    """
    groups = [str(procedure.subject) for procedure, _ in videos]
    if len(set(groups)) == 1:
        count = min(_GROUPS, len(videos))
        groups = [str(number % count) for number in range(len(videos))]
    return [
        (
            [one for one, group in zip(videos, groups, strict=True) if group != wanted],
            [one for one, group in zip(videos, groups, strict=True) if group == wanted],
        )
        for wanted in sorted(set(groups))
        if len(set(groups)) > 1
    ]


def _foreign_texts(
    procedure: Procedure,
    judged: Sequence[tuple[Procedure, Pair]],
    random: np.random.Generator,
) -> list[Instructions]:
    """Return one text of every other activity of the same subject."""
    texts: dict[str, list[Instructions]] = {}
    for other, pair in judged:
        if other.activity != procedure.activity:
            texts.setdefault(other.activity, []).append(pair[0])
    return [group[random.integers(len(group))] for _, group in sorted(texts.items())]


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


def _nouns_only(pair: Pair) -> Pair:
    lines = tuple(replace(line, verbs=()) for line in pair[0].lines)
    chunks = tuple(replace(chunk, verbs=frozenset()) for chunk in pair[1].chunks)
    return replace(pair[0], lines=lines), replace(pair[1], chunks=chunks, motion=None)


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
    parser.add_argument("--words", action="store_true", help="align with learned words instead")
    options = parser.parse_args(arguments)
    if options.words:
        results = measure_words(options.data)
        print_report(
            results,
            as_json=options.json,
            title="CAD-120, step accuracy without and with words of the other subjects",
            columns=[Column("subject", "", justify="left")]
            + [Column(name, name, ".3f") for name in ("without", "with")],
            rows=[{"subject": name} | row for name, row in results.items()],
        )
        return
    results = measure(options.data, options.test)
    print_report(
        results,
        as_json=options.json,
        title="CAD-120, sentences timed against hands and objects: step accuracy",
        columns=[Column("row", "", justify="left"), Column("value", "", ".3f")],
        rows=[
            {"row": name.replace("_", " "), "value": value}
            for name, value in [*results.items(), *results["belonging"].items()]
            if not isinstance(value, dict)
        ],
    )


if __name__ == "__main__":
    run_main(main)
