"""``demo``: render films of three places, learn words in two, find moments in the third."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.evaluation import best_threshold, blind_f1, chance_f1, decisions
from wordsight.language import default_lexicon
from wordsight.language.captions import Caption
from wordsight.library import Library
from wordsight.meaning import ON_FILM, LearnedLexicon, SentenceHit, Windows, WordLearner
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.progress import Progress
from wordsight.records import Clip, Sentence
from wordsight.video import VideoReader, render_overlay, write_contact_sheet
from wordsight.workflows.clips import whole_clip
from wordsight.workflows.lexicon import LEXICON
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import Request, argument, setting
from wordsight.workflows.workflow import Result, as_json, workflow
from wordsight.worlds import street, write_world
from wordsight.worlds.folder import METADATA_NAME
from wordsight.worlds.street import StreetFilm, street_sentences

__all__ = [
    "DemoRequest",
    "DemoResult",
    "Street",
    "demo",
    "f1_table",
    "learn_street",
    "simple_sentences",
]

_LONGEST = 10.0  # seconds; no video of the street lasts longer
_SEARCHED = (
    "The person picked up the backpack.",
    "The person carried the chair.",
    "The person approached the trash-can quickly.",
)

_THINGS = ("backpack", "trash-can", "chair")
_WORST = -1e9  # stands for minus infinity


class DemoRequest(Request):
    """Where the demo is made, and how large."""

    folder: Path = argument(
        "Where to; a second run goes on there.", metavar="FOLDER", default=Path("demo")
    )
    clips: int = setting(54, "How many videos to make and learn from.", ge=6)


@dataclass(frozen=True, eq=False)
class DemoResult(Result):
    """What was learned and found.

    Attributes:
        street: The films.
        num_words: How many words were learned.
        table: How many sentences were judged, and the F1 of the learned words beside others.
        found: Per sentence that was searched for the moments, and whether it is true of each.
        best: The moment that was drawn.
        overlay: The video with who is who drawn on it.
        sheet: A picture of every video.
    """

    street: "Street"
    num_words: int
    table: dict[str, Any]
    found: dict[str, list[tuple[SentenceHit, bool]]]
    best: SentenceHit
    overlay: Path
    sheet: Path

    def to_json(self) -> Any:
        """Return what ``wordsight demo --json`` prints."""
        hits = {text: [hit for hit, _ in rows] for text, rows in self.found.items()}
        files = {"overlay": self.overlay, "contact_sheet": self.sheet}
        return as_json({**self.table, "found": hits, **files})


@workflow(DemoRequest)
def demo(request: DemoRequest, *, reporter: RecordingReporter) -> DemoResult:
    """Make videos with sentences, learn the words, and find moments in new videos."""
    folder = request.folder
    street = Street.make(reporter, folder, request.clips)
    words = learn_street(reporter, street)
    with reporter.progress("Judging sentences") as progress:
        table = f1_table(words, street, progress)
    whole = Windows(lengths=(_LONGEST,))  # the videos are moments already
    _, clips = street.part(unseen=True)
    films = dict(zip(street.paths, street.films, strict=True))
    found = {
        text: [
            (hit, films[hit.video_id].truth.holds(text))
            for hit in words.search(clips, text, top=2, windows=whole)
        ]
        for text in _SEARCHED
    }
    best = max((hit for rows in found.values() for hit, _ in rows), key=lambda hit: hit.score)
    return DemoResult(
        street,
        len(words.words),
        table,
        found,
        best,
        _overlay(reporter, words, street, best, folder / "found.mp4"),
        _sheet(reporter, street, folder / "videos.png"),
    )


@dataclass(frozen=True)
class Street:
    """Films, and what is seen in them.

    Attributes:
        films: All films, in order.
        clips: What the detector of the rendered worlds sees in each, linked.
        paths: The file of each video, by its id in the library, in the order of the films.
        library: The folder of the library.
    """

    films: tuple[StreetFilm, ...]
    clips: tuple[Clip, ...]
    paths: dict[str, str]
    library: Path

    @classmethod
    def make(cls, reporter: Reporter, folder: Path, count: int) -> "Street":
        """Render the films, or find them again, and look at them."""
        films = tuple(street(count))
        videos, place = folder / "street", folder / "library"
        if not (videos / METADATA_NAME).exists():
            with reporter.progress("Rendering videos") as progress:
                write_world(films, videos, total=count, progress=progress)
        with Library.open(place, create=True) as library:
            with reporter.progress("Looking at videos") as progress:
                library.add(videos, detector="rendered", progress=progress)
            by_name = {video.name: video for video in library.videos()}
            known = [by_name[f"{film.name}.mp4"] for film in films]
            clips = tuple(whole_clip(library, video.id) for video in known)
        return cls(films, clips, {video.id: video.path for video in known}, place)

    @property
    def names(self) -> dict[str, str]:
        """The file name of each video."""
        return {video: Path(path).name for video, path in self.paths.items()}

    def part(self, *, unseen: bool) -> tuple[list[StreetFilm], list[Clip]]:
        """Return the films of the last place with their clips, or those of all other places."""
        places = [str(film.truth.record()["place"]) for film in self.films]
        chosen = [(place == list(dict.fromkeys(places))[-1]) is unseen for place in places]
        return list(compress(self.films, chosen)), list(compress(self.clips, chosen))


def f1_table(words: LearnedLexicon, street: Street, progress: Progress) -> dict[str, Any]:
    """Judge every simple sentence about every film of the last place.

    Returns:
        How many sentences, and the F1 of chance, of the best guess without looking, of the
        learned words, and of words written by hand.
    """
    asked = simple_sentences()
    (films, clips), (known, known_clips) = street.part(unseen=True), street.part(unseen=False)
    truth = _truth(films, asked)
    rows = {"chance": chance_f1(truth), "blind guess": blind_f1(truth)}
    written = hand_lexicon(street.clips[0].detections.label_names)
    for number, (name, lexicon) in enumerate((("learned", words), ("written by hand", written))):
        progress(number, 2, name)
        before = _scores(lexicon, known_clips, asked)
        threshold, _ = best_threshold(before, _truth(known, asked))
        said = _scores(lexicon, clips, asked) >= threshold
        rows[name] = decisions(truth, said).f1
    progress(2, 2, "done")
    return {"sentences": len(asked), "f1": {name: round(f1, 3) for name, f1 in rows.items()}}


def simple_sentences() -> list[Sentence]:
    """Return what a person may do with one of three things."""
    found = []
    for sentence in street_sentences(2):
        entries = [word.entry for word in sentence.words]
        agent = next((w.entry for w in sentence.words if w.participants == (0,)), "")
        if len(entries) == 3 and agent == "person" and set(entries) & set(_THINGS):
            found.append(sentence)
    return found


def _truth(films: Sequence[StreetFilm], asked: Sequence[Sentence]) -> NDArray[np.bool_]:
    return np.array([[film.truth.holds(s) for s in asked] for film in films], dtype=np.bool_)


def _scores(
    lexicon: LearnedLexicon, clips: Sequence[Clip], asked: Sequence[Sentence]
) -> NDArray[np.float64]:
    known = lexicon.with_silent(entry.name for entry in lexicon.lexicon)
    rows = [known.scores(known.observe(clip), asked) for clip in clips]
    return np.maximum(np.array(rows), _WORST)


def learn_street(reporter: Reporter, street: Street) -> LearnedLexicon:
    """Learn words from the films of all places but the last, or read them if that was done."""
    path = street.library / LEXICON
    if path.exists():
        return LearnedLexicon.load(path)
    films, clips = street.part(unseen=False)
    with reporter.progress("Learning words") as progress:
        learner = WordLearner(ON_FILM, restarts=2, threads=2).fit(
            clips,
            [list(film.sentences) for film in films],
            lexicon=default_lexicon(),
            progress=progress,
        )
    learner.lexicon_.save(path)
    return learner.lexicon_


def _overlay(
    reporter: Reporter, words: LearnedLexicon, street: Street, hit: SentenceHit, path: Path
) -> Path:
    if not path.exists():
        with reporter.progress("Drawing who is who") as progress:
            clip = next(clip for clip in street.clips if clip.video_id == hit.video_id)
            render_overlay(
                street.paths[hit.video_id],
                path,
                tracks=list(words.track(clip, hit.text).tracks),
                captions=[Caption(clip.start, clip.end, hit.text)],
                progress=progress,
            )
    return path


def _sheet(reporter: Reporter, street: Street, path: Path) -> Path:
    if not path.exists():
        images = []
        with reporter.progress("Drawing an overview") as progress:
            for number, (video, source) in enumerate(street.paths.items()):
                progress(number, len(street.paths), street.names[video])
                with VideoReader(source) as reader:
                    images.append(reader.frame_at(reader.info.duration / 2).image)
        write_contact_sheet(path, images, [film.sentences[0] for film in street.films])
    return path
