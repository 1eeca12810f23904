"""How well hits are cut to what they show: long films of the street, and films of one's own.

Run with ``python -m experiments.moments [--clips 61] [--seed 0] [--data DIR] [--keep DIR2]
[--detector objects] [--json]``. Sentences are looked for in long films by the functions of
``wordsight search``; a hit is right if its time and that of an event that the sentence is true of
overlap by half of both together (intersection over union).

``street``: the films, words and events of ``experiments.questions``; all moments that are judged
true count. ``films``: with ``--data`` (films and ``metadata.jsonl``), each moment in turn is left
out, words are learned from the others, and its sentence is looked for in its film, as many hits as
the sentence is said of. Events without a sentence are unknown there, so that of these hits only
those that share time with the moment left out count.

``half``: the share of hits that are right; ``mean``: the mean overlap; ``windows``: the share that
would be right if hits were the windows that were judged; ``found``: the share of events with a
hit that is right.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import wordsight
from experiments.data.films import films_of, load_moments, words_of
from experiments.films import learn_moments
from experiments.questions import learn_places, long_films, true_pairs
from experiments.report import Column, print_report, report_parser, run_main, say
from wordsight.library import Library
from wordsight.meaning.tasks.search import search
from wordsight.worlds import street

__all__ = ["main", "measure_films", "measure_street"]

Span = tuple[float, float]


class _Tally:
    """Overlaps of hits and of windows with events, and which events were found."""

    def __init__(self) -> None:
        self.hits: list[float] = []
        self.windows: list[float] = []
        self.found: list[bool] = []

    def add(self, hits: Sequence[Span], windows: Sequence[Span], events: Sequence[Span]) -> None:
        self.hits += [max(overlap(hit, event) for event in events) for hit in hits]
        self.windows += [max(overlap(one, event) for event in events) for one in windows]
        self.found += [any(overlap(hit, event) >= 0.5 for hit in hits) for event in events]

    def results(self) -> dict[str, Any]:
        def share(values: Sequence[bool]) -> float:
            return round(float(np.mean(values)), 4) if values else 0.0

        return {
            "half": share([one >= 0.5 for one in self.hits]),
            "mean": round(float(np.mean(self.hits)), 4) if self.hits else 0.0,
            "windows": share([one >= 0.5 for one in self.windows]),
            "found": share(self.found),
            "hits": len(self.hits),
        }


def overlap(one: Span, other: Span) -> float:
    """Return the intersection over union of two stretches of time."""
    common = min(one[1], other[1]) - max(one[0], other[0])
    return max(0.0, common) / max(max(one[1], other[1]) - min(one[0], other[0]), 1e-9)


def measure_street(clips: int, seed: int, quick: bool) -> dict[str, Any]:
    """Look for the events of long films of the street."""
    known, new = learn_places(list(street(clips, seed)), seed, quick)
    tally = _Tally()
    for film in long_films(new):
        for verb, noun in true_pairs(film):
            text = f"The person {verb} the {noun}.".replace("-", " ")
            hits = search(known, [film.clip], known.sentence(text), only_true=True)
            events = [(e.start, e.end) for e in film.of(verb, noun)]
            tally.add([(h.start, h.end) for h in hits], [h.judged for h in hits], events)
        say(f"{film.clip.video_id}: {len(tally.hits)} hits")
    return tally.results()


def measure_films(data: Path, keep: Path | None, detector: str) -> dict[str, Any]:
    """Look for each moment of films with words that were learned from all the others."""
    moments = load_moments(data / "metadata.jsonl")
    films = films_of(data, moments)
    tally = _Tally()
    with TemporaryDirectory() as work:
        seen = (keep or Path(work)) / detector.replace("+", "-")
        wordsight.add(seen, films, detector=detector.replace("+", ","), workers=1)
        for asked in moments:
            rest = [one for one in moments if one is not asked]
            known = {word for one in rest for word in words_of(one.text)}
            if not known.issuperset(words_of(asked.text)):
                continue
            library, words = learn_moments(
                seen, films, rest, detector=detector, work=Path(work) / "learned"
            )
            with Library.open(library) as opened:
                names = {video.id: video.name for video in opened.videos()}
                found = wordsight.search(opened, asked.text, words=words, top=50).moments
            said = sum((m.file_name, m.text) == (asked.file_name, asked.text) for m in moments)
            hits = [m for m in found if names[m.video_id] == asked.file_name][:said]
            event = (asked.start, asked.end)
            near = [m for m in hits if overlap((m.start, m.end), event) > 0.0]
            spans = [(m.start, m.end) for m in near]
            tally.add(spans, [m.judged or (m.start, m.end) for m in near], [event])
            shown = ", ".join(f"{m.start:.1f}-{m.end:.1f}" for m in hits)
            say(f"{asked.text} {event[0]:.1f}-{event[1]:.1f}: {shown}")
    return tally.results()


def main(arguments: list[str] | None = None) -> None:
    """Run the experiment from the command line."""
    parser = report_parser("experiments.moments", __doc__ or "")
    parser.add_argument("--clips", type=int, default=61, help="films of the street; 0 for none")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="as `wordsight learn --quick`")
    parser.add_argument("--data", type=Path, help="folder of films and metadata.jsonl")
    parser.add_argument("--keep", type=Path, metavar="DIR2", help="folder with their detections")
    parser.add_argument("--detector", default="objects", help="of the films")
    options = parser.parse_args(arguments)
    result: dict[str, Any] = {}
    if options.clips:
        result["street"] = measure_street(options.clips, options.seed, options.quick)
    if options.data is not None:
        result["films"] = measure_films(options.data, options.keep, options.detector)
    names = ("half", "mean", "windows", "found")
    print_report(
        result,
        as_json=options.json,
        title="Hits beside what they show: overlap in time",
        columns=[
            Column("row", "", justify="left"),
            *(Column(name, name, ".3f") for name in names),
            Column("hits", "hits", "d"),
        ],
        rows=[{"row": row} | found for row, found in result.items()],
    )


if __name__ == "__main__":
    run_main(main)
