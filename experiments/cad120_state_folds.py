"""One fold of the CAD-120 states experiment: a method learns on some videos and judges others."""

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.cad120_state_rows import (
    Rows,
    believed,
    causal_rows,
    chained_rows,
    fern_rows,
    few_rows,
    gradient_rows,
    rule_rows,
    sentence_rows,
    speed_rows,
)
from experiments.data.cad120_states import LabelledVideo, load_videos
from wordsight.errors import WordsightError
from wordsight.states import StateModel

__all__ = ["METHODS", "Job", "Judged", "Tally", "measure_fold"]

METHODS = ("rules", "few", "causal", "gradient", "fern", "chained", "sentences", "speed")


class Judged(NamedTuple):
    """One video: who acts, whether its sequence is exactly right, and how many facts are."""

    subject: str
    right: bool
    right_facts: int
    facts: int


@dataclass(frozen=True)
class Job:
    """One method on one fold: the subject left out, or a folder of test data."""

    data: Path
    test: Path | None
    subject: str | None
    method: str


@dataclass(frozen=True)
class Tally:
    """What one job found.

    Attributes:
        videos: Per row how each video was judged.
        fps: Frames a second, if timed.
        model: The learned rules, of the method that is compared with others.
        said: Probabilities of all facts at all moments of the videos judged, by these rules.
        true: Whether they hold.
    """

    videos: dict[str, list[Judged]]
    fps: float | None = None
    model: StateModel | None = None
    said: NDArray[np.float64] | None = None
    true: NDArray[np.bool_] | None = None


def measure_fold(job: Job) -> Tally:
    """Learn on the training videos of a fold and judge the others."""
    causal = job.method == "causal"
    train = load_videos(job.data, causal=causal)
    test = train if job.test is None else load_videos(job.test, causal=causal)
    if job.subject is not None:
        train = [video for video in train if video.subject != job.subject]
        test = [video for video in test if video.subject == job.subject]
    if not train or not test:
        raise WordsightError(
            "a fold has no videos to learn from or to judge; are there 2 subjects?"
        )
    if job.method == "rules":
        rows, fps, model = rule_rows(train, test)
        said, true = believed(model, test)
        return Tally(_tallied(rows, test), fps, model, said, true)
    run = {
        "few": few_rows,
        "causal": causal_rows,
        "gradient": gradient_rows,
        "fern": fern_rows,
        "chained": chained_rows,
        "sentences": sentence_rows,
    }
    return Tally(_tallied(run.get(job.method, speed_rows)(train, test), test))


def _tallied(rows: Rows, test: list[LabelledVideo]) -> dict[str, list[Judged]]:
    found: dict[str, list[Judged]] = {}
    for row, told in rows.items():
        found[row] = []
        for states, video in zip(told, test, strict=True):
            truth = video.states.table(states.facts)
            right = states.states() == video.states.states()
            hits = int((truth == states.values).sum())
            found[row].append(Judged(video.subject, right, hits, truth.size))
    return found
