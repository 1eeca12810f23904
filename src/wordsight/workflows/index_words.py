"""Words of a search index: how its texts are split, and words for what is seen in its shots."""

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import write_text

if TYPE_CHECKING:
    from wordsight.attributes import AttributeLearner
    from wordsight.library import Library, SentenceEntry, VideoEntry
    from wordsight.progress import Progress
    from wordsight.retrieval.text import Analyser

__all__ = [
    "NAMED",
    "NamedShots",
    "forget_words",
    "index_analyser",
    "name_shots",
    "named_terms",
    "remember_words",
]

NAMED = "attributes.json"
_LEAST_CONFIDENCE = 0.5
Row = tuple[float, float, list[tuple[str, float]]]


def index_analyser(folder: Path, language: str | None) -> "Analyser":
    """Return the analyser of an index, or of a new one in some language.

    Raises:
        WordsightError: If the index was made for another language.
    """
    from wordsight.retrieval.index.segments import MANIFEST, Manifest
    from wordsight.retrieval.text import TEXT, Analyser

    if (folder / MANIFEST).exists():
        kept = Analyser.from_json(Manifest.read(folder).settings[TEXT])
        asked = kept if language is None else _of_language(language)
        if asked != kept:
            raise WordsightError(
                f"the index in {folder} was made for {kept.language or 'no'} word endings; leave "
                "--language out, or delete the folder to start over."
            )
        return kept
    return _of_language(language or "english")


@dataclass
class NamedShots:
    """Per shot of an index the words for the things in it.

    Attributes:
        model: Folder of the taught words, inside that of the index.
        marks: Per video what its words depend on.
        shots: Per video start and end of each shot, and its words with their confidence.
    """

    model: str
    marks: dict[str, str] = field(default_factory=dict)
    shots: dict[str, list[Row]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "NamedShots | None":
        """Return what is known of the shots of an index, or None if they were not named."""
        try:
            values = json.loads((folder / NAMED).read_text(encoding="utf-8"))
            return cls(values["model"], dict(values["marks"]), dict(values["shots"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise WordsightError(
                f"{folder / NAMED} is damaged ({error}); name the shots again with `wordsight "
                "index --attributes FOLDER`."
            ) from error

    def write(self, folder: Path) -> None:
        """Keep it."""
        values = {"model": self.model, "marks": self.marks, "shots": self.shots}
        write_text(folder / NAMED, json.dumps(values, ensure_ascii=False) + "\n")

    def sentences(self, video_id: str) -> "tuple[SentenceEntry, ...]":
        """Return the words of a video's shots as something that is said of them."""
        from wordsight.library import SentenceEntry

        return tuple(
            SentenceEntry(video_id, start, end, _text(words), NAMED, -1)
            for start, end, words in self.shots.get(video_id, [])
            if _text(words)
        )

    def said(self, text: str, video_id: str, start: float) -> str:
        """Return the text of a shot without the words that were not said."""
        ours = next((_text(row[2]) for row in self._rows(video_id) if row[0] == start), "")
        return text.removesuffix(ours).rstrip() if ours else text

    def confidences(self, video_id: str, start: float | None = None) -> dict[str, list[float]]:
        """Return the words of a shot, or of all shots of a video, with their confidences."""
        found: dict[str, list[float]] = {}
        for row in self._rows(video_id):
            if start is None or row[0] == start:
                for word, confidence in row[2]:
                    if confidence >= _LEAST_CONFIDENCE:
                        found.setdefault(word, []).append(confidence)
        return found

    def _rows(self, video_id: str) -> list[Row]:
        return self.shots.get(video_id, [])


def remember_words(folder: Path, taught: "AttributeLearner") -> bool:
    """Make an index name its shots by taught words from now on.

    The words are copied into the index, so that it goes on with them wherever they were taught.

    Returns:
        Whether they are new to it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    fresh = folder / "attributes-new"
    taught.save(fresh, overwrite=True)
    mark = hashlib.sha256((fresh / "model.json").read_bytes()).hexdigest()[:12]
    target = folder / f"attributes-{mark}"
    known = _known(folder)
    if known is not None and known.model == target.name and target.exists():
        shutil.rmtree(fresh)
        return False
    if target.exists():
        shutil.rmtree(target)
    fresh.rename(target)
    NamedShots(target.name).write(folder)
    if known is not None and known.model != target.name:
        shutil.rmtree(folder / known.model, ignore_errors=True)
    return True


def forget_words(folder: Path) -> bool:
    """Make an index name its shots no longer; tells whether it did."""
    known = _known(folder)
    (folder / NAMED).unlink(missing_ok=True)
    if known is not None:
        shutil.rmtree(folder / known.model, ignore_errors=True)
    return known is not None


def name_shots(
    library: "Library", folder: Path, progress: "Progress | None" = None
) -> NamedShots | None:
    """Bring the words of an index's shots up to date: only new or changed videos are looked at.

    Every video is kept when it is done, so that an interrupted run resumes. One
    that cannot be read has no words; the reason is reported where it is indexed.

    Returns:
        What is known then; ``None`` where no words were asked for.
    """
    from wordsight.workflows.teach import load_taught

    known = NamedShots.read(folder)
    if known is None:
        return None
    marks = {video.id: _mark(video) for video in library.videos()}
    for video_id in known.marks.keys() - marks.keys():
        del known.marks[video_id]
        known.shots.pop(video_id, None)
    wanted = [video_id for video_id, mark in marks.items() if mark != known.marks.get(video_id)]
    if wanted:
        taught = load_taught(folder / known.model)
        for done, video_id in enumerate(wanted, start=1):
            known.shots.pop(video_id, None)
            try:
                known.shots[video_id] = _named(library, video_id, taught)
                known.marks[video_id] = marks[video_id]
            except WordsightError:
                known.marks.pop(video_id, None)
            known.write(folder)
            if progress is not None:
                progress(done, len(wanted), f"naming {video_id}")
    known.write(folder)
    return known


def named_terms(
    confidences: Mapping[str, list[float]], terms: Callable[[str], list[str]]
) -> dict[str, list[float]]:
    """Return confidences by the terms an index has for the words."""
    found: dict[str, list[float]] = {}
    for word, values in confidences.items():
        for term in terms(word):
            found.setdefault(term, []).extend(values)
    return found


def _of_language(language: str) -> "Analyser":
    from wordsight.retrieval.text import STOP_WORDS, Analyser

    stop = language if language in STOP_WORDS else None
    return Analyser(None if language == "none" else language, stop)


def _named(library: "Library", video_id: str, taught: "AttributeLearner") -> list[Row]:
    from wordsight.attributes.recall.videos import name_detections, shot_words
    from wordsight.records import Shot
    from wordsight.workflows.clips import whole_clip

    clip = whole_clip(library, video_id)
    shots = library.shots(video_id) or [Shot(video_id, clip.start, clip.end, 1.0, 0, len(clip))]
    looks = name_detections(taught, library.video(video_id).path, clip.detections)
    return [
        (shot.start, shot.end, [(term.word, round(term.confidence, 4)) for term in terms])
        for shot, terms in zip(shots, shot_words(looks, shots), strict=True)
    ]


def _text(words: list[tuple[str, float]]) -> str:
    return " ".join(word for word, confidence in words if confidence >= _LEAST_CONFIDENCE)


def _mark(video: "VideoEntry") -> str:
    known: list[Any] = [video.sha256, video.num_shots, video.added_at.isoformat()]
    return hashlib.sha256(json.dumps(known).encode()).hexdigest()[:16]


def _known(folder: Path) -> NamedShots | None:
    try:
        return NamedShots.read(folder)
    except WordsightError:
        return None  # damaged: replaced
