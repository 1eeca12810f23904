"""Does the joint model win where tracks are uncertain? Words learned from a detector that errs.

Run with ``python -m experiments.noise [--seeds 2] [--folds 3] [--levels 3] [--json]``; ``--kinds``
names some of the curves and controls only, and ``--pool FILE ...`` puts the JSON of several runs
together. The boxes
of the street world's films are spoilt: some are missed, some get another class, corners jitter, and
false boxes are added; :class:`~experiments.detector_noise.DetectorNoise` has the usual amounts,
20 % misses, 10 % classes drawn anew, 3 pixels, two false boxes a frame. Words are learned in two
places and judge the sentences of ``experiments.acl2013`` in the third.

``linked``: the boxes are linked first, and each participant is one of the tracks, as ``wordsight
learn --participants tracks`` does it. ``joint``: a participant is a chain of tracklets that are
carried on where they are not detected, chosen together with the words (``--participants
tracklets``). Both learn by maximum likelihood with calibration from one start; nothing but the
participants differs. ``curves`` vary one kind of error at a time, among them ``wrong_sentences``:
training clips whose sentences are those of another clip. Controls: ``heavy`` has both under heavier
noise; ``smoothed`` are linked tracks whose motion is measured over the wider window of tracklets,
``carried`` the same carried on as well, so that what is left between it and ``joint`` are chains.

F1 per set of sentences, means over places and seeds. World and noise seeds from ``--first`` on; the
settings were chosen with world seed 0 and noise seed 5 (``--first 0``), so that the default is free
of that choice.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.detector_noise import DetectorNoise, noisy_clips
from experiments.report import (
    Column,
    print_report,
    read_results,
    report_parser,
    run_main,
    say,
)
from experiments.street_corpus import StreetClip, true_clip
from experiments.street_sentences import choose_test_sentences, exchanged_sentences, truth_table
from wordsight.engine import Processes
from wordsight.errors import WordsightError
from wordsight.evaluation import best_threshold, decisions
from wordsight.language import default_lexicon
from wordsight.meaning import ON_FILM, ViewSettings, WordLearner
from wordsight.meaning.features import ClipView
from wordsight.meaning.training.leave_one_out import LeaveOneOut
from wordsight.perception import tracked_clip
from wordsight.records import Clip, Sentence
from wordsight.worlds import street
from wordsight.worlds.street import StreetFilm

__all__ = ["CURVES", "main", "measure", "pool", "summarise"]

METHODS = ("linked", "joint")
"""The methods compared."""

CONTROLS = ("smoothed", "carried")
"""Methods between the two."""

CURVES: dict[str, tuple[float, ...]] = {
    "misses": (0.4, 0.0),
    "false_boxes": (4, 0),
    "confusion": (0.25, 0.0),
    "jitter": (6.0, 0.0),
    "wrong_sentences": (0.3, 0.1, 0.2),
}
"""Amounts of each kind of error, beside the usual one."""

KINDS = (*CURVES, "controls")
"""What can be asked for beside the usual noise."""

HEAVY = DetectorNoise(misses=0.4, false_boxes=3, confusion=0.2, jitter=5.0)
"""The heavier noise among the controls."""

_CLIPS = 61
_WORST = -1e9  # stands for minus infinity
_PLACES = ("courtyard", "park", "kerb")


@dataclass(frozen=True)
class _Tracks(ViewSettings):
    """Tracks measured as tracklets are, but never joined.

    Attributes:
        carried: Whether they are carried on where they are not detected.
    """

    carried: bool = True

    def view(self, clip: Clip) -> ClipView:
        """Return the view of a clip under these settings."""
        chains = replace(self, participants="tracklets")
        view = super(_Tracks, chains).view(clip)
        # Chains of several tracklets come after those of one; the last object is the unseen one.
        assert clip.detections.ids is not None
        single = view.columns < len(np.unique(clip.detections.ids[clip.mask]))
        single[-1] = True
        view = view.cut(slice(None), single)
        if self.carried:
            return view
        none = np.zeros_like(view.carried)
        return replace(view, present=view.present & ~view.carried, carried=none)


_VIEWS = {
    "linked": ViewSettings(participants="tracks"),
    "smoothed": _Tracks(carried=False),
    "carried": _Tracks(),
    "joint": ViewSettings(participants="tracklets"),
}


class Job(NamedTuple):
    """One model to learn and to judge with.

    Attributes:
        noise: How the detector errs.
        method: One of :data:`METHODS` or :data:`CONTROLS`.
        seed: Of the films, the errors and the learning.
        place: The place that is left out.
    """

    noise: DetectorNoise
    method: str
    seed: int
    place: str


@cache
def _films(seed: int) -> tuple[list[StreetFilm], list[str], list[Clip]]:
    """Return films, their places and their true boxes."""
    films = list(street(_CLIPS, seed))
    places = [str(film.truth.record()["place"]) for film in films]
    return films, places, list(map(true_clip, films))


@cache
def _sentences_of(seed: int, place: str) -> dict[str, list[Sentence]]:
    return choose_test_sentences(*_films(seed)[:2], place)


def measure_job(job: Job) -> dict[str, float]:
    """Learn in two places, and return the F1 of each set of sentences in the third."""
    films, places, true = _films(job.seed)
    spoilt = list(map(_numbered, noisy_clips(true, job.noise, job.seed + 5)))
    clips = [tracked_clip(clip, for_words=True) for clip in spoilt]
    items = [StreetClip(*row) for row in zip(films, places, clips, spoilt, strict=True)]
    train = [item for item in items if item.place != job.place]
    test = [item for item in items if item.place == job.place]
    settings = replace(
        ON_FILM,
        restarts=1,
        discriminative=None,
        random_state=job.seed,
        view_settings=_VIEWS[job.method],
    )
    learner = WordLearner(settings).fit(
        [item.clip for item in train],
        exchanged_sentences([item.film for item in train], job.noise.wrong_sentences, job.seed),
        lexicon=default_lexicon(),
    )
    return {
        name: _f1(learner.calibrated_held_out_, train, test, sentences)
        for name, sentences in _sentences_of(job.seed, job.place).items()
    }


def _numbered(clip: Clip) -> Clip:
    """Hide the names of classes: what nouns mean is to be learned, flipped classes and all."""
    names = tuple(f"class {n}" for n in range(len(clip.detections.label_names)))
    return replace(clip, detections=replace(clip.detections, label_names=names))


def _f1(
    held_out: LeaveOneOut,
    train: Sequence[StreetClip],
    test: Sequence[StreetClip],
    asked: Sequence[Sentence],
) -> float:
    """Judge test clips with the threshold that is best on training clips, each left out."""

    def scores(items: Sequence[StreetClip]) -> NDArray[np.float64]:
        rows = []
        for item in items:
            known = held_out.for_clip(item.clip)
            known = known.with_silent(entry.name for entry in known.lexicon)
            rows.append(known.scores(known.observe(item.clip), asked))
        return np.maximum(np.array(rows), _WORST)

    before, truth = (truth_table([item.film for item in items], asked) for items in (train, test))
    threshold, _ = best_threshold(scores(train), before)
    return float(decisions(truth, scores(test) >= threshold).f1)


def measure(
    seeds: Sequence[int],
    places: Sequence[str],
    levels: int,
    workers: int,
    kinds: Sequence[str] = KINDS,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        seeds: World and noise seeds of the usual noise; curves and controls have the first.
        places: The places left out in turn.
        levels: Amounts of each kind of error beside the usual one; without any, the curves and
            the controls are left out.
        workers: Processes to use.
        kinds: Which of :data:`KINDS`.

    Returns:
        F1 of both methods at the usual noise, along the curves, and of the controls.
    """
    usual, first = DetectorNoise(), seeds[0]
    wanted = [(usual, method, seed) for seed in seeds for method in METHODS]
    if levels and "controls" in kinds:
        wanted += [(usual, method, first) for method in CONTROLS]
        wanted += [(HEAVY, method, first) for method in METHODS]
    for kind in (kind for kind in kinds if kind in CURVES and levels):
        noises = [replace(usual, **{kind: amount}) for amount in CURVES[kind][:levels]]
        wanted += [(noise, method, first) for noise in noises for method in METHODS]
    jobs = [Job(*one, place) for one in dict.fromkeys(wanted) for place in places]
    return summarise(_run(jobs, workers))


def summarise(found: dict[Job, dict[str, float]]) -> dict[str, Any]:
    """Return means over the jobs of each kind and amount of noise; jobs alone are kept, too."""
    usual = DetectorNoise()

    def mean(
        noise: DetectorNoise,
        methods: Sequence[str] = METHODS,
        beside: Sequence[DetectorNoise] = (),
    ) -> dict[str, dict[str, float]]:
        # Only folds that all have are compared: seeds differ by more than most kinds of noise.
        folds = [
            {(job.seed, job.place) for job in found if job[:2] == (each, m)}
            for each in (noise, *beside)
            for m in methods
        ]
        shared = sorted(set.intersection(*folds))
        return {m: _mean(found[Job(noise, m, *fold)] for fold in shared) for m in methods if shared}

    results: dict[str, Any] = dict(mean(usual))
    noises = list(dict.fromkeys(job.noise for job in found))
    results["curves"] = {}
    for kind in CURVES:
        own = [noise for noise in noises if replace(noise, **{kind: getattr(usual, kind)}) == usual]
        if len(own) > 1:
            own.sort(key=lambda noise: getattr(noise, kind))
            points = [{kind: getattr(noise, kind), **mean(noise, beside=own)} for noise in own]
            results["curves"][kind] = points
    if HEAVY in noises:
        everything = mean(usual, ("linked", *CONTROLS, "joint"))
        results["controls"] = {"usual": everything, "heavy": mean(HEAVY)}
    results["by_fold"] = [
        {**asdict(job.noise), "method": job.method, "seed": job.seed, "place": job.place, **row}
        for job, row in found.items()
    ]
    return results


def pool(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Put the results of several runs together."""
    found = {}
    for row in (row for part in parts for row in part["by_fold"]):
        noise = DetectorNoise(**{field.name: row[field.name] for field in fields(DetectorNoise)})
        job = Job(noise, row["method"], row["seed"], row["place"])
        found[job] = {name: row[name] for name in ("NV", "ALL")}
    return summarise(found)


def _run(jobs: Sequence[Job], workers: int) -> dict[Job, dict[str, float]]:
    found = {}
    for outcome in Processes(workers).map(measure_job, jobs):
        if outcome.result is None:
            raise WordsightError(f"{outcome.item}: {outcome.error}")
        found[outcome.item] = outcome.result
        row = ", ".join(f"{name} {value:.3f}" for name, value in outcome.result.items())
        say(f"{len(found)}/{len(jobs)} {outcome.item.method}, {outcome.item.place}: {row}")
    return found


def _mean(rows: Iterable[dict[str, float]]) -> dict[str, float]:
    rows = list(rows)
    return {name: round(float(np.mean([row[name] for row in rows])), 4) for name in rows[0]}


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.noise", __doc__ or "")
    parser.add_argument("--first", type=int, default=1, help="first world and noise seed")
    parser.add_argument("--seeds", type=int, default=2, help="seeds at the usual noise")
    parser.add_argument("--folds", type=int, default=3, help="places left out, at most three")
    parser.add_argument("--levels", type=int, default=3, help="further amounts on each curve")
    parser.add_argument("--workers", type=int, default=2, help="processes to use")
    parser.add_argument(
        "--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND", help=", ".join(KINDS)
    )
    parser.add_argument(
        "--pool", type=Path, nargs="+", metavar="FILE", help="put these JSON results together"
    )
    options = parser.parse_args(arguments)
    seeds = range(options.first, options.first + options.seeds)
    if options.pool:
        results = pool(list(map(read_results, options.pool)))
    else:
        places = _PLACES[: options.folds]
        results = measure(seeds, places, options.levels, options.workers, options.kinds)
    columns = [Column("row", "", justify="left")]
    columns += [
        Column(f"{method} {name}", f"{method} {name}", ".3f")
        for name in ("NV", "ALL")
        for method in METHODS
    ]
    rows = [_row("usual noise", results)]
    for kind, points in results["curves"].items():
        rows += [_row(f"{kind.replace('_', ' ')} {point[kind]:g}", point) for point in points]
    if "controls" in results:
        rows.append(_row("heavy noise", results["controls"]["heavy"]))
    print_report(
        results,
        as_json=options.json,
        title="Street, boxes with errors: track-then-read and the joint model, F1",
        columns=columns,
        rows=rows,
    )


def _row(name: str, values: dict[str, Any]) -> dict[str, Any]:
    return {"row": name} | {
        f"{method} {key}": value for method in METHODS for key, value in values[method].items()
    }


if __name__ == "__main__":
    # Worker processes find functions by the module's name, which is another one here.
    from experiments.noise import main as main_by_name

    run_main(main_by_name)
