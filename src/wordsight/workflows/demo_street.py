"""The street of the demo: films of three places, of which one is kept to see what was learned."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordsight.evaluation import best_threshold, blind_f1, chance_f1, decisions
from wordsight.library import Library
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.progress import Progress
from wordsight.records import Clip, Sentence
from wordsight.workflows.clips import whole_clip
from wordsight.workflows.reporter import Reporter
from wordsight.worlds import street, write_world
from wordsight.worlds.folder import METADATA_NAME
from wordsight.worlds.street import StreetFilm, street_sentences

__all__ = ["Street", "f1_table"]

_THINGS = ("backpack", "trash-can", "chair")
_WORST = -1e9  # stands for minus infinity


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

    @property
    def known(self) -> list[StreetFilm]:
        """The films to learn from: those of all places but the last."""
        return [film for film, new in zip(self.films, self._new(), strict=True) if not new]

    @property
    def unseen(self) -> list[StreetFilm]:
        """The films of the last place."""
        return [film for film, new in zip(self.films, self._new(), strict=True) if new]

    @property
    def known_clips(self) -> list[Clip]:
        """What is seen in the films to learn from."""
        return [clip for clip, new in zip(self.clips, self._new(), strict=True) if not new]

    @property
    def unseen_clips(self) -> list[Clip]:
        """What is seen in the films of the last place."""
        return [clip for clip, new in zip(self.clips, self._new(), strict=True) if new]

    def _new(self) -> list[bool]:
        places = [str(film.truth.record()["place"]) for film in self.films]
        return [place == list(dict.fromkeys(places))[-1] for place in places]


def f1_table(words: LearnedLexicon, street: Street, progress: Progress) -> dict[str, Any]:
    """Judge every simple sentence about every film of the last place.

    Returns:
        How many sentences, and the F1 of chance, of the best guess without looking, of the
        learned words, and of words written by hand.
    """
    asked = _simple_sentences()
    truth = _truth(street.unseen, asked)
    rows = {"chance": chance_f1(truth), "blind guess": blind_f1(truth)}
    written = hand_lexicon(street.clips[0].detections.label_names)
    for number, (name, lexicon) in enumerate((("learned", words), ("written by hand", written))):
        progress(number, 2, name)
        before = _scores(lexicon, street.known_clips, asked)
        threshold, _ = best_threshold(before, _truth(street.known, asked))
        said = _scores(lexicon, street.unseen_clips, asked) >= threshold
        rows[name] = decisions(truth, said).f1
    progress(2, 2, "done")
    return {"sentences": len(asked), "f1": {name: round(f1, 3) for name, f1 in rows.items()}}


def _simple_sentences() -> list[Sentence]:
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
