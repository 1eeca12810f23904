"""From pixels to sentences on a person's own films: what is learned from a few described moments.

Run with ``python -m experiments.films --data DIR [--test FILE.jsonl] [--keep DIR2] [--json]``. DIR
holds films and ``metadata.jsonl`` (``file_name``, ``start``, ``end``, ``text``). Per detector the
films are added to a library, words are learned, and moments that were not learned from are judged:
each moment in turn is left out or, with ``--test``, words are learned from ``metadata.jsonl`` and
the moments of the other file are judged. Everything is done by the functions behind the commands
``add``, ``learn``, ``score``, ``describe`` and ``track``, with their defaults.

``accuracy``: the true sentence is preferred among the sentences of the films. Sentences known to be
true of the moment as well are no candidates: those of moments that overlap it, and those that say
less in the same words ("the car drove away" of a red car). ``describe_first``: the first sentence
of ``describe`` is true of the moment, by the same rule. ``right_thing``: of the boxes that
``track`` draws for the true sentence where a box was marked by hand, the share that overlaps it by
half (``experiments/data/films.csv``); ``found`` is the share of marked things with such a box.
``blind`` chooses the most frequent sentence, ``chance`` any. ``moments`` counts those judged: one
with a word that was not learned cannot be judged (``untaught``): one that no other moment has, when
it is left out. ``right_thing`` and ``found`` are null where no box was marked by hand.

Detections are kept in DIR2, where given, and taken from there when they are there.
"""

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import wordsight
from experiments.data.films import Mark, Moment, films_of, load_marks, load_moments, words_of
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.errors import WordsightError
from wordsight.evaluation import chance_accuracy, choice_accuracy
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.perception.detectors.suppression import box_iou
from wordsight.perception.networks import installed_network, network_catalog

__all__ = ["learn_moments", "main", "measure"]

DETECTORS = ("regions", "objects", "objects+hands")
_SAME = 0.5  # least intersection over union of a box that is the right thing
_SOON = 0.2  # seconds between a mark and the box nearest in time, at most


@dataclass
class _Tally:
    """What came of the moments judged so far."""

    scores: list[list[float]] = field(default_factory=list)
    guesses: list[list[float]] = field(default_factory=list)
    truth: list[int] = field(default_factory=list)
    described: list[bool] = field(default_factory=list)
    marked: int = 0
    drawn: int = 0
    right: int = 0

    def results(self, untaught: int) -> dict[str, Any]:
        """Return what is reported of a detector."""
        return {
            "accuracy": round(choice_accuracy(self.scores, self.truth), 4),
            "describe_first": round(float(np.mean(self.described)), 4),
            "right_thing": round(self.right / self.drawn, 4) if self.drawn else None,
            "found": round(self.right / self.marked, 4) if self.marked else None,
            "blind": round(choice_accuracy(self.guesses, self.truth), 4),
            "chance": round(chance_accuracy([len(row) for row in self.scores]), 4),
            "moments": len(self.truth),
            "untaught": untaught,
            "boxes": self.drawn,
            "marks": self.marked,
        }


def measure(
    data: Path,
    test: Path | None = None,
    detectors: Sequence[str] = DETECTORS,
    keep: Path | None = None,
) -> dict[str, Any]:
    """Run the experiment.

    Args:
        data: Folder of the films and ``metadata.jsonl``.
        test: Further moments to judge; each of ``metadata.jsonl`` is left out in turn if None.
        detectors: Which detectors, several of one library joined by ``+``.
        keep: Folder of libraries with detections; a temporary one if None.

    Returns:
        The results per detector.
    """
    moments = load_moments(data / "metadata.jsonl")
    judged = moments if test is None else load_moments(test)
    films = films_of(data, [*moments, *judged])
    held: AbstractContextManager[str] = (
        TemporaryDirectory() if keep is None else nullcontext(str(keep))
    )
    results = {}
    with held as folder, TemporaryDirectory() as work:
        for detector in detectors:
            missing = [
                n
                for n in detector.split("+")
                if n in network_catalog() and not installed_network(n)
            ]
            if missing:
                say(f"{detector} is left out: run `wordsight detectors get {missing[0]}` first")
                continue
            seen = Path(folder) / detector.replace("+", "-")
            say(f"{detector}: looking at {len(films)} films")
            added = wordsight.add(seen, films, detector=detector.replace("+", ","), workers=1)
            for failed in added.report.failed:
                raise WordsightError(f"{failed.path}: {failed.message}")
            results[detector] = _measure_detector(
                detector, seen, films, moments, judged, test, Path(work)
            )
    return results


def _measure_detector(
    detector: str,
    seen: Path,
    films: Sequence[Path],
    moments: Sequence[Moment],
    judged: Sequence[Moment],
    test: Path | None,
    work: Path,
) -> dict[str, Any]:
    tally, untaught, marks = _Tally(), 0, load_marks()
    learn = partial(learn_moments, seen, films, detector=detector, work=work / detector)
    everything = learn(moments) if test is not None else None
    for number, moment in enumerate(judged):
        rest = list(moments) if test is not None else [m for m in moments if m is not moment]
        known = {word for one in rest for word in words_of(one.text)}
        unknown = [word for word in words_of(moment.text) if word not in known]
        learned = everything or (None if unknown else learn(rest))
        name = f"{detector} {number + 1}/{len(judged)}"
        if learned is None or not _can_be_read(moment.text, LearnedLexicon.load(learned[1])):
            untaught += 1
            say(f"{name}: {moment.text} not judged, as not learned: {', '.join(unknown)}")
            continue
        library, words = learned
        before = tally.right, tally.drawn
        _judge(moment, [*moments, *judged], rest, library, words, marks, tally)
        row = tally.scores[-1]
        chosen = "right" if row[tally.truth[-1]] == max(row) else "wrong"
        said = "right" if tally.described[-1] else "wrong"
        boxes = f"{tally.right - before[0]} of {tally.drawn - before[1]} boxes right"
        said = f"{moment.text} chosen {chosen}, described {said}, {boxes}"
        say(f"{name}: {said}")
    if not tally.truth:
        raise WordsightError(
            f"none of {len(judged)} moments can be judged: each has a word that was not learned."
        )
    return tally.results(untaught)


def _can_be_read(text: str, lexicon: LearnedLexicon) -> bool:
    """Tell whether a sentence can be read with the words that were learned."""
    try:
        return bool(lexicon.sentence(text).words)
    except WordsightError:
        return False


def learn_moments(
    seen: Path, films: Sequence[Path], moments: Sequence[Moment], *, detector: str, work: Path
) -> tuple[Path, Path]:
    """Learn words from some moments; return a library with their sentences, and the words."""
    shutil.rmtree(work, ignore_errors=True)
    library, said = work / "library", work / "said"
    shutil.copytree(seen, library)
    said.mkdir()
    for film in films:
        (said / film.name).symlink_to(film.resolve())
    rows = [json.dumps(vars(moment)) for moment in moments]
    (said / "metadata.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # The films are known by their content, so that only the sentences are new.
    wordsight.add(
        library, [said / "metadata.jsonl"], detector=detector.replace("+", ","), workers=1
    )
    wordsight.learn(library, words=work / "words")
    return library, work / "words"


def _video_of(library: Library, name: str) -> str:
    for video in library.videos():
        if video.name == name:
            return video.id
    raise WordsightError(f"{name} is kept under another name; give an empty folder as --keep.")


def _judge(
    moment: Moment,
    known: Sequence[Moment],
    rest: Sequence[Moment],
    library: Path,
    words: Path,
    marks: Sequence[Mark],
    tally: _Tally,
) -> None:
    lexicon = LearnedLexicon.load(words)
    texts = {one.text for one in known if _can_be_read(one.text, lexicon)}
    meanings = {text: frozenset(lexicon.sentence(text).words) for text in texts}
    also_true = {one.text for one in known if one.overlaps(moment)}
    also_true |= {text for text in texts if meanings[text] <= meanings[moment.text]}
    candidates = [moment.text]
    candidates += sorted({one.text for one in rest if one.text in texts} - also_true)
    with Library.open(library) as opened:
        video = _video_of(opened, moment.file_name)
        part: dict[str, Any] = {
            "start": moment.start,
            "end": moment.end,
            "whole": True,
            "words": words,
        }
        scored = wordsight.score(opened, video, tuple(candidates), **part)
        described = wordsight.describe(opened, video, top=1, **part)
        tracked = wordsight.track(opened, video, moment.text, **part).tracked
    frequency = Counter(meanings[one.text] for one in rest if one.text in texts)
    tally.scores.append([one.preference for one in scored.scores])
    tally.guesses.append([float(frequency[meanings[text]]) for text in candidates])
    tally.truth.append(0)
    right = {meanings[text] for text in also_true & texts}
    first = described.descriptions[0].text if described.descriptions else None
    tally.described.append(first is not None and frozenset(lexicon.sentence(first).words) in right)
    for mark in marks:
        for track in tracked.tracks:
            if track.label == mark.thing and mark.is_for(moment):
                tally.marked += 1
                near = np.flatnonzero(np.abs(track.times - mark.time) <= _SOON)
                if len(near):
                    nearest = near[np.abs(track.times[near] - mark.time).argmin()]
                    tally.drawn += 1
                    overlap = box_iou(track.boxes[[nearest]].astype(np.float64), mark.boxes)
                    tally.right += bool(overlap.max() >= _SAME)


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.films", __doc__ or "", "folder of films and metadata.jsonl")
    parser.add_argument("--test", type=Path, metavar="FILE.jsonl", help="further moments, judged")
    parser.add_argument(
        "--keep", type=Path, metavar="DIR2", help="folder where detections are kept"
    )
    parser.add_argument(
        "--detector", action="append", choices=DETECTORS, help="only this one; may be repeated"
    )
    options = parser.parse_args(arguments)
    results = measure(options.data, options.test, options.detector or DETECTORS, options.keep)
    names = list(next(iter(results.values()), {}))
    columns = [Column("row", "", justify="left"), *(Column(one, one, ".3f") for one in results)]
    rows = [{"row": name} | {one: results[one][name] for one in results} for name in names]
    title = "Films of one's own: moments that were not learned from"
    print_report(results, as_json=options.json, title=title, columns=columns, rows=rows)


if __name__ == "__main__":
    run_main(main)
