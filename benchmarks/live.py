"""How a watch compares with a search: speed, delay, what it finds, and whether memory grows.

Run ``python -m benchmarks.live [--folder FOLDER] [--minutes 30] [--json]``. Films of a street whose
place no word was learned in are joined into one stream, repeated until it is long enough, and
watched as a growing file, with the detector of the rendered worlds. One round of them is searched
as a whole and compared with what was reported in the first round. A hit is right if its sentence is
true of the film it falls into. All runs on two cores at most; a folder is used again.
"""

import argparse
import json
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import psutil

from experiments.report import say
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.records import FrameDetections, Sentence
from wordsight.video import Frame
from wordsight.workflows.clips import whole_clip
from wordsight.workflows.demo import Street, learn_street, simple_sentences
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.watch import WatchHit, Watching, WatchRequest
from wordsight.worlds import street, write_world
from wordsight.worlds.folder import METADATA_NAME
from wordsight.worlds.street import StreetFilm

_RATE = 10.0
_UNSEEN_PLACE = "kerb"  # the last of the places the demo renders, in which it learns nothing
_MEMORY_STEP = 2.0  # seconds of the stream between two looks at the memory
_WARM = 0.2  # share of the stream after which memory is measured: caches and pools are full then


@dataclass(frozen=True)
class Scene:
    """One film in the stream: when it begins and ends, and what is true of it."""

    start: float
    end: float
    film: StreetFilm

    def event_end(self, sentence: Sentence) -> float | None:
        """Return when what a sentence says has happened, in seconds of the stream."""
        verb = next(word.entry for word in sentence.words if len(word.participants) == 2)
        noun = next(word.entry for word in sentence.words if word.participants == (1,))
        events = self.film.truth.record()["events"]
        ends = [e["end"] for e in events if e["verb"] == verb and noun in str(e["patient"])]
        return self.start + min(ends) if ends else None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, help="where films and words are kept for later runs")
    parser.add_argument("--films", type=int, default=54, help="films of three places")
    parser.add_argument("--unseen", type=int, default=90, help="films that are watched")
    parser.add_argument("--minutes", type=float, default=30.0, help="length of the long stream")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args()
    os.sched_setaffinity(0, idlest_cores(2))
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        report = measure(folder, options.films, options.unseen, options.minutes)
    if options.json:
        print(json.dumps(report))
        return
    for name, value in report.items():
        print(f"{name:>20}  {value}")


def idlest_cores(count: int) -> list[int]:
    """Return the cores that did least in the last second, for a figure of so many cores."""
    busy = psutil.cpu_percent(interval=1.0, percpu=True)
    return sorted(sorted(os.sched_getaffinity(0), key=lambda core: busy[core])[:count])


def measure(folder: Path, count: int, unseen: int, minutes: float) -> dict[str, Any]:
    """Return what ``--json`` prints."""
    reporter = RecordingReporter()
    street_films = Street.make(reporter, folder, count)
    words = learn_street(reporter, street_films)
    sentences = [s for s in simple_sentences() if all(w.entry in words.words for w in s.words)]
    films = list(street(unseen, 7, places=(_UNSEEN_PLACE,)))
    if not (folder / "unseen" / METADATA_NAME).exists():
        write_world(films, folder / "unseen", total=unseen)
    stream, long = folder / "stream.ts", folder / "long.ts"
    scenes = join(films, folder / "unseen", stream)
    rounds = max(1, round(60 * minutes / scenes[-1].end))
    join(films * rounds, folder / "unseen", long)
    say(f"{len(words.words)} words, {len(sentences)} sentences, {rounds} rounds; searching")
    offline = searched(folder, stream, words, sentences)
    say("watching")
    online, fps, growth = watched(folder, long, sentences, scenes[-1].end)
    before, after = judged(offline, scenes, sentences), judged(online, scenes, sentences)
    return {
        "fps": round(fps, 1),
        "delay_median_s": after["delay"],
        "recall_ratio": round(after["recall"] / before["recall"], 3),
        "precision_ratio": round(after["precision"] / before["precision"], 3),
        "memory_growth_mb": round(growth, 2),
        "recall": [round(before["recall"], 3), round(after["recall"], 3)],
        "precision": [round(before["precision"], 3), round(after["precision"], 3)],
        "hits": [len(offline), len(online)],
        "sentences": len(sentences),
        "stream_minutes": [round(scenes[-1].end / 60, 1), round(rounds * scenes[-1].end / 60, 1)],
    }


def join(films: Sequence[StreetFilm], folder: Path, target: Path) -> list[Scene]:
    """Write films one after the other as a transport stream, without encoding them again."""
    scenes, begun = [], Fraction(0)
    with av.open(str(target), "w", format="mpegts") as out:
        stream = None
        for film in films:
            with av.open(str(folder / f"{film.name}.mp4")) as source:
                own = source.streams.video[0]
                stream = stream or out.add_stream_from_template(own)
                end = begun
                for packet in source.demux(own):
                    if packet.pts is None or packet.dts is None or packet.time_base is None:
                        continue
                    shift = round(begun / packet.time_base)
                    end = max(end, begun + packet.pts * packet.time_base + Fraction(1, 30))
                    packet.pts, packet.dts = packet.pts + shift, packet.dts + shift
                    packet.stream = stream
                    out.mux(packet)
            scenes.append(Scene(float(begun), float(end), film))
            begun = end
    return scenes


def searched(
    folder: Path, stream: Path, words: LearnedLexicon, sentences: Sequence[Sentence]
) -> list[WatchHit]:
    """Search the whole film, as ``wordsight search`` does."""
    place = folder / "searched"
    with Library.open(place, create=True) as library:
        library.add(stream, detector="rendered", rate=_RATE)
        clip = whole_clip(library, library.videos()[0].id)
    found = (words.search([clip], sentence, top=None, only_true=True) for sentence in sentences)
    start = clip.start
    return [
        WatchHit("", hit.start - start, hit.end - start, hit.score, hit.text, 1.0, 0.0, "")
        for hits in found
        for hit in hits
    ]


def watched(
    folder: Path, stream: Path, sentences: Sequence[Sentence], until: float
) -> tuple[list[WatchHit], float, float]:
    """Watch a film; return the hits until a time, frames a second, and megabytes gained."""
    request = WatchRequest(
        source=str(stream),
        sentences=tuple(sentence.text for sentence in sentences),
        words=folder / "library" / "lexicon",
        detector="rendered",
        rate=_RATE,
        give_up=0.5,
    )
    used: list[tuple[float, float]] = []

    def measure_memory(frame: Frame, _: FrameDetections) -> None:
        if not used or frame.time - used[-1][0] >= _MEMORY_STEP:
            used.append((frame.time, _used()))
            if len(used) % 150 == 0:
                say(f"{frame.time / 60:.0f} min: {used[-1][1]:.1f} MB")

    with Watching(request, RecordingReporter(), measure_memory) as watching:
        begun = time.perf_counter()
        hits = [hit for hit in watching.hits() if hit.end <= until]
        lasted = time.perf_counter() - begun
        frames, end = watching.num_frames, watching.now
    warm = [amount for when, amount in used if when > _WARM * end]
    few = max(1, len(warm) // 10)
    growth = float(np.median(warm[-few:]) - np.median(warm[:few]))
    return hits, frames / lasted, growth


def _used() -> float:
    return float(psutil.Process().memory_full_info().uss) / 2**20


def judged(
    hits: Sequence[WatchHit], scenes: Sequence[Scene], sentences: Sequence[Sentence]
) -> dict[str, Any]:
    """Return the precision and recall of hits, and how long after events right ones came."""
    by_text = {sentence.text: sentence for sentence in sentences}
    right, found, delays = 0, set(), []
    for hit in hits:
        middle = (hit.start + hit.end) / 2
        number = next((n for n, s in enumerate(scenes) if s.start <= middle < s.end), None)
        if number is None or not scenes[number].film.truth.holds(hit.text):
            continue
        right += 1
        ended = scenes[number].event_end(by_text[hit.text])
        if (number, hit.text) not in found and ended is not None:
            delays.append(hit.end + hit.delay - ended)
        found.add((number, hit.text))
    true = sum(scene.film.truth.holds(text) for scene in scenes for text in by_text)
    return {
        "precision": right / max(1, len(hits)),
        "recall": len(found) / max(1, true),
        "delay": round(float(np.median(delays)), 2) if delays else None,
    }


if __name__ == "__main__":
    main()
