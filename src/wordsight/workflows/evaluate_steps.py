"""``evaluate steps``: lists of steps aligned with what a network said of every frame."""

from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from wordsight.errors import FormatError, WordsightError
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.units import count
from wordsight.workflows.workflow import Result, as_json, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.alignment.models.scored_steps import ScoredPair
    from wordsight.evaluation import StepScores
    from wordsight.language.captions import Caption

__all__ = ["EvaluateStepsRequest", "EvaluateStepsResult", "evaluate_steps"]

_KEPT = 0.3  # share of the scores above the cost of dropping a frame, as DropDTW has it
_LIKELY = (0.9, 4.0)  # seconds of scores over those until the last step ends
_SCORE_SUFFIXES = (".npy", ".npz", ".txt", ".csv")


class EvaluateStepsRequest(Request):
    """Which collection, and what was said of its frames."""

    annotations: Path = argument(
        "Steps with times as CrossTask, COIN, YouCook2, Breakfast, 50 Salads or EgoProceL have "
        "them: a JSON file or a folder.",
        metavar="ANNOTATIONS",
    )
    scores: Path = setting(
        ...,
        "Folder with the scores of each video, VIDEO.npy, .npz, .txt or .csv: frames by classes. "
        "A mapping.txt there ('0 cut_tomato') gives the classes; else they are the labels sorted.",
        metavar="FOLDER",
    )
    rate: float = setting(1.0, "Rows of scores per second.", gt=0.0)
    frame_rate: float | None = setting(
        None,
        "Frames per second of annotations in frames.",
        gt=0.0,
        default_text="15 for first-last, 30 for a label per frame",
    )
    mistakes: bool = setting(False, "Expect skipped and swapped steps.")


@dataclass(frozen=True)
class EvaluateStepsResult(Result):
    """How well the steps of a collection were found.

    Attributes:
        videos: Number of videos that were aligned.
        left_out: Videos without scores, without steps, with fewer frames than steps, or whose
            scores end before the first step.
        scores: Measures by method: ``ours``, ``drop_dtw`` and ``uniform``.
    """

    videos: int
    left_out: tuple[str, ...]
    scores: "dict[str, StepScores]"

    def to_json(self) -> Any:
        """Return what ``wordsight evaluate steps --json`` prints."""
        rows = {name: asdict(row) for name, row in self.scores.items()}
        return as_json({"videos": self.videos, "left_out": list(self.left_out)} | rows)


@workflow(EvaluateStepsRequest)
def evaluate_steps(
    request: EvaluateStepsRequest, *, reporter: RecordingReporter
) -> EvaluateStepsResult:
    """Align lists of steps with scores of frames, and measure how well that was done."""
    import numpy as np

    from wordsight.alignment.annotations import read_steps
    from wordsight.alignment.models.scored_steps import ScoredSteps
    from wordsight.evaluation import score_steps

    steps = read_steps(request.annotations, request.frame_rate)
    classes = _classes(request.scores, steps)
    pairs, truths, left_out = [], [], []
    lasting: list[tuple[float, float]] = []
    for video, captions in sorted(steps.items()):
        file = _score_file(request.scores, video)
        scores = None if file is None or not captions else _read_scores(file, len(classes))
        if scores is None or len(scores) < len(captions):
            left_out.append(video)
            continue
        lasting.append((len(scores) / request.rate, max(c.end or 0.0 for c in captions)))
        truth = _truth(captions, len(scores), request.rate)
        if (truth < 0).all():
            left_out.append(video)
            continue
        pairs.append(_pair(captions, classes, scores))
        truths.append(truth)
    _check_rate(lasting, request.rate, reporter)
    if not pairs:
        raise WordsightError(
            f"{request.scores} holds no scores of these videos; expected files such as "
            f"{next(iter(steps))}.npy with at least as many rows as the video has steps, and as "
            "the steps last."
        )
    if left_out:
        reporter.note(f"{count(len(left_out), 'video')} left out, such as {left_out[0]}.")
    skip, back = (0.1, 0.05) if request.mistakes else (0.0, 0.0)
    with reporter.progress("Aligning") as progress:
        model = ScoredSteps(skip=skip, back=back).fit(pairs, progress)
    found = {
        "ours": [model.predict(pair) for pair in pairs],
        "drop_dtw": [_dropping(pair) for pair in pairs],
        "uniform": [
            np.arange(len(pair.scores)) * len(pair.steps) // len(pair.scores) for pair in pairs
        ],
    }
    rows = {name: score_steps(truths, each) for name, each in found.items()}
    return EvaluateStepsResult(len(pairs), tuple(left_out), rows)


def _check_rate(
    lasting: list[tuple[float, float]], rate: float, reporter: RecordingReporter
) -> None:
    """Warn where scores last far longer or shorter than the steps: the rate may be wrong.

    Args:
        lasting: Seconds of scores, and the end of the last step, of each video.
        rate: Rows of scores per second.
        reporter: Where the warning is shown.
    """
    if not lasting:
        return
    scored, ends = (median(times) for times in zip(*lasting, strict=True))
    if not _LIKELY[0] <= scored / max(ends, 1e-9) <= _LIKELY[1]:
        reporter.warn(
            f"By --rate {rate:g} the scores of a video last {scored:.0f} s (median) and its steps "
            f"end after {ends:.0f} s; check the rate, and --frame-rate."
        )


def _classes(folder: Path, steps: "dict[str, list[Caption]]") -> dict[str, int]:
    from wordsight.language.captions.decoding import read_text

    mapping = folder / "mapping.txt"
    if not mapping.is_file():
        names = sorted({one.text for captions in steps.values() for one in captions})
        return {name: number for number, name in enumerate(names)}
    classes = {}
    for line in read_text(mapping).splitlines():
        number, _, name = line.strip().partition(" ")
        if name:
            if not number.isdecimal():
                raise FormatError(f"{mapping}: expected 'NUMBER NAME', got {line!r}.")
            classes[name.strip()] = int(number)
    missing = sorted({c.text for every in steps.values() for c in every} - set(classes))
    if missing:
        raise FormatError(
            f"{mapping} has no class {missing[0]!r}, which is a step in the annotations."
        )
    return classes


def _score_file(folder: Path, video: str) -> Path | None:
    places = (folder / f"{video}{suffix}" for suffix in _SCORE_SUFFIXES)
    return next((path for path in places if path.is_file()), None)


def _read_scores(file: Path, classes: int) -> "NDArray[np.float64]":
    """Return ``(T, V)`` probabilities; other scores are passed through a softmax."""
    import numpy as np

    try:
        if file.suffix in (".npy", ".npz"):
            loaded = np.load(file, allow_pickle=False)
            scores = loaded[loaded.files[0]] if file.suffix == ".npz" else loaded
        else:
            scores = np.loadtxt(file, delimiter="," if file.suffix == ".csv" else None, ndmin=2)
        scores = np.asarray(scores, dtype=np.float64)
    except (OSError, ValueError, IndexError) as error:
        raise FormatError(f"{file} is no table of scores: {error}") from error
    if scores.ndim != 2 or not len(scores) or scores.shape[1] < classes:
        raise FormatError(
            f"{file}: expected frames by {classes} classes, got the shape {scores.shape}."
        )
    if not np.isfinite(scores).all():
        raise FormatError(f"{file} holds values that are not finite.")
    if scores.min() < 0 or not np.allclose(scores.sum(axis=1), 1.0, atol=0.05):
        scores = np.exp(scores - scores.max(axis=1, keepdims=True))
        scores /= scores.sum(axis=1, keepdims=True)
    return np.asarray(scores)


def _pair(
    captions: "list[Caption]", classes: dict[str, int], scores: "NDArray[np.float64]"
) -> "ScoredPair":
    import numpy as np

    from wordsight.alignment.models.scored_steps import ScoredPair

    return ScoredPair(np.array([classes[c.text] for c in captions], dtype=np.int64), scores)


def _truth(captions: "list[Caption]", frames: int, rate: float) -> "NDArray[np.int64]":
    import numpy as np

    times = (np.arange(frames) + 0.5) / rate
    truth = np.full(frames, -1, dtype=np.int64)
    for number, caption in enumerate(captions):
        truth[(times >= (caption.start or 0.0)) & (times < (caption.end or 0.0))] = number
    return truth


def _dropping(pair: "ScoredPair") -> "NDArray[np.int64]":
    """Return the steps that Drop-DTW finds by the scores alone."""
    import numpy as np

    from wordsight.alignment.models.drop_dtw import drop_dtw

    logits = np.log(pair.scores[:, pair.steps] + 1e-12)
    drop = float(np.quantile(logits, 1.0 - _KEPT))
    every = np.concatenate([logits, np.full((len(logits), 1), drop)], axis=1)
    costs = np.logaddexp.reduce(every, axis=1, keepdims=True) - every
    return drop_dtw(costs[:, :-1], costs[:, -1])[1]
