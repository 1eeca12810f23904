"""What scenes and videos add to shots when subtitles come late.

Run with ``python -m experiments.hierarchy [--data DIR] [--json]``. Rendered street films are
spliced into videos and cut again by the shot finder; with ``--data``, the folder of CAD-120, its
labelled segments are real shots with real sentences. Every sentence is shown as a subtitle so many
seconds too late, and becomes part of the shot that is then on screen. A query is a sentence; right
are the shots it is true of. Shares of shot, scene (five neighbouring shots), video and collection
are learned by EM from the other half of the queries, for each depth alike; ``default`` smooths as
``wordsight search`` does, learned from the texts alone. Numbers are MAP.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.data.cad120 import read_lines
from experiments.data.reading import reading
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import FormatError, RetrievalError
from wordsight.evaluation import evaluate_run
from wordsight.retrieval.text import (
    DEFAULT_SMOOTHING,
    PRIOR_WORDS,
    Analyser,
    Interpolation,
    LanguageModel,
    Levels,
    Postings,
    Shard,
    TextQuery,
    fit_mixing_weights,
    fit_two_stage,
)

__all__ = ["Shown", "fit_interpolation_from_queries", "main", "measure", "read_cad120", "rendered"]

SHIFTS = (0.0, 1.0, 2.0, 4.0, 8.0)
SCENE = 5
DEPTHS = {"shot": 1, "shot_scene": 2, "shot_scene_video": 3}
_FRAME_RATE = 10.0

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shown:
    """A video: its shots, and sentences with the time they are true of.

    Attributes:
        shots: Start and end of each shot in seconds, in order.
        said: Start, end and text of each sentence.
    """

    shots: Sequence[tuple[float, float]]
    said: Sequence[tuple[float, float, str]]


def rendered(videos: int = 4, films: int = 8, seed: int = 0) -> list[Shown]:
    """Splice street films into videos, write them, and cut them with the shot finder."""
    from wordsight.video import VideoWriter, detect_shots
    from wordsight.worlds import street

    made = list(street(videos * films, seed, noise=0.0, frame_rate=_FRAME_RATE))
    order = np.random.default_rng(seed).permutation(len(made)).reshape(videos, films)
    shown = []
    with tempfile.TemporaryDirectory() as folder:
        for number, chosen in enumerate(order.tolist()):
            path, said, time = Path(folder) / f"{number}.mp4", [], 0.0
            with VideoWriter(path, made[0].size, _FRAME_RATE) as writer:
                for at in chosen:
                    for image in made[at].frames():
                        writer.write(image)
                    end = time + made[at].duration
                    said += [(time, end, text) for text in made[at].sentences]
                    time = end
            shots = [(shot.start, shot.end) for shot in detect_shots(path)]
            shown.append(Shown(shots, said))
    return shown


def read_cad120(folder: Path) -> list[Shown]:
    """Read the labelled segments of real videos and the sentences true of them.

    Raises:
        FormatError: If the file is not there or not as expected.
    """
    found = sorted(folder.rglob("clips.jsonl"))
    if not found:
        raise FormatError(f"{folder} holds no clips.jsonl; --data must name the CAD-120 folder.")
    videos: dict[str, list[tuple[float, float, list[str]]]] = {}
    with reading(found[0], "the file of CAD-120 clips"):
        for row in read_lines(found[0]):
            span = (row["start_frame"] - 1) / 30.0, row["end_frame"] / 30.0
            videos.setdefault(row["video"], []).append((*span, row["sentences"]))
    shown = []
    for rows in videos.values():
        rows.sort(key=lambda row: row[0])
        said = [(start, end, text) for start, end, texts in rows for text in texts]
        shown.append(Shown([(start, end) for start, end, _ in rows], said))
    return shown


def measure(shown: Sequence[Shown], shift: float, seed: int = 0) -> dict[str, float]:
    """Return the MAP of every depth with subtitles late by ``shift`` seconds."""
    analyser = Analyser()
    levels = _levels(shown, shift, analyser)
    right = _right(shown)
    texts = sorted(right)
    queries = [TextQuery.from_text(text, analyser) for text in texts]
    answers = [right[text] for text in texts]
    half = np.random.default_rng(seed).permutation(len(queries)) % 2
    results = {}
    qrels = {text: {str(d): 1 for d in right[text]} for text in texts}
    for name, depth in DEPTHS.items():
        part = Levels(levels.postings[:depth], levels.owners[:depth])
        run: dict[str, dict[str, float]] = {}
        for fold in range(2):
            other = [at for at in range(len(queries)) if half[at] != fold]
            learned = fit_interpolation_from_queries(
                part, [queries[at] for at in other], [answers[at] for at in other]
            )
            model = LanguageModel([Shard(part)], learned)
            for at in np.flatnonzero(half == fold).tolist():
                run[texts[at]] = _ranked(model, queries[at])
        results[name] = round(evaluate_run(run, qrels, ["AP"]).means["AP"], 4)
    shard = Shard(levels)
    shares = LanguageModel([shard], background="documents").shares()
    smoothing = fit_two_stage(levels, shares, prior=DEFAULT_SMOOTHING, words=PRIOR_WORDS)
    model = LanguageModel([shard], smoothing, "documents")
    run = {text: _ranked(model, query) for text, query in zip(texts, queries, strict=True)}
    return results | {"default": round(evaluate_run(run, qrels, ["AP"]).means["AP"], 4)}


def _ranked(model: LanguageModel, query: TextQuery) -> dict[str, float]:
    found = model.search(query, None)
    pairs = zip(found.documents.tolist(), found.scores.tolist(), strict=True)
    return {str(document): score for document, score in pairs}


def _levels(shown: Sequence[Shown], shift: float, analyser: Analyser) -> Levels:
    """Give every shot the subtitles shown in it, and make scenes of neighbouring shots."""
    texts: list[list[str]] = []
    scenes, videos = [], []
    for number, video in enumerate(shown):
        said: list[list[str]] = [[] for _ in video.shots]
        for start, end, text in video.said:
            said[_on_screen(video.shots, (start + end) / 2 + shift)] += analyser.terms(text)
        scenes += [(number, place // SCENE) for place in range(len(video.shots))]
        videos += [number] * len(video.shots)
        texts += said
    numbers = {scene: at for at, scene in enumerate(dict.fromkeys(scenes))}
    owners = [
        np.arange(len(texts)),
        np.array([numbers[scene] for scene in scenes]),
        np.array(videos),
    ]
    return Levels.build(Postings.build(texts), owners, owners)


def _on_screen(shots: Sequence[tuple[float, float]], time: float) -> int:
    """Return the shot shown at a time, the last one after the end."""
    return next((at for at, (_, end) in enumerate(shots) if time < end), len(shots) - 1)


def _right(shown: Sequence[Shown]) -> dict[str, list[int]]:
    """Return for each sentence the shots that show what it says for most of their time."""
    right: dict[str, set[int]] = {}
    first = 0
    for video in shown:
        for at, (start, end) in enumerate(video.shots):
            for from_, until, text in video.said:
                if min(end, until) - max(start, from_) > (end - start) / 2:
                    right.setdefault(text, set()).add(first + at)
        first += len(video.shots)
    return {text: sorted(shots) for text, shots in right.items()}


def fit_interpolation_from_queries(
    levels: Levels,
    queries: Sequence[TextQuery],
    relevant: Sequence[Sequence[int]],
) -> Interpolation:
    """Learn the weights of all levels from queries with known relevant documents.

    Args:
        levels: The documents and their units.
        queries: The queries.
        relevant: The numbers of the relevant documents of each query.
    """
    rows: list[Array] = []
    weights: list[float] = []
    shares = levels.collection.probabilities
    for query, documents in zip(queries, relevant, strict=True):
        for term, weight in query.weights.items():
            number = levels.terms.number(term)
            if number is not None:
                table = _probabilities(levels, number, np.asarray(documents, np.int64))
                rows += [np.append(row, shares[number]) for row in table]
                weights += [weight / max(1, len(documents))] * len(documents)
    if not rows:
        raise RetrievalError("no word of the queries occurs in the collection; nothing to learn.")
    mixing = fit_mixing_weights(np.stack(rows), np.array(weights))
    return Interpolation.from_mixing_weights(mixing)


def _probabilities(levels: Levels, term: int, documents: NDArray[np.int64]) -> Array:
    """Return ``(n, L)`` the probability of a term on each level of some documents."""
    columns = []
    for postings, owners in zip(levels.postings, levels.owners, strict=True):
        texts, counts = postings.term_counts(term)
        dense = np.zeros(postings.num_texts)
        dense[texts] = counts
        columns.append((dense / np.maximum(postings.lengths, 1))[owners[documents]])
    return np.stack(columns, axis=1)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.hierarchy", __doc__ or "")
    parser.add_argument("--data", type=Path, metavar="DIR", help="folder of CAD-120, if at hand")
    parser.add_argument("--seed", type=int, default=0, help="of the films and of the halves")
    options = parser.parse_args(arguments)
    real = {} if options.data is None else {"real": read_cad120(options.data)}
    say("rendering")
    collections = {"rendered": rendered(seed=options.seed)} | real
    results: dict[str, Any] = {}
    for name, shown in collections.items():
        say(f"{name}: {sum(len(v.shots) for v in shown)} shots of {len(shown)} videos")
        results[name] = {f"{s:g}": measure(shown, s, options.seed) for s in SHIFTS}
    rows = [
        {"row": name, "shift": f"{shift} s"} | values
        for name, found in results.items()
        for shift, values in found.items()
    ]
    print_report(
        results,
        as_json=options.json,
        title="MAP with subtitles so late",
        columns=[
            Column("row", "", justify="left"),
            Column("shift", "late by"),
            Column("shot", "shot", ".3f"),
            Column("shot_scene", "shot, scene", ".3f"),
            Column("shot_scene_video", "shot, scene, video", ".3f"),
            Column("default", "wordsight search", ".3f"),
        ],
        rows=rows,
    )


if __name__ == "__main__":
    run_main(main)
