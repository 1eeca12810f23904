"""Clips of a library with what is said of them and what might be said instead."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.workflows.lexicon import readable_grammar
from wordsight.workflows.reporter import Reporter
from wordsight.workflows.settings import setting

if TYPE_CHECKING:
    from wordsight.language import Lexicon
    from wordsight.library import Library
    from wordsight.records import Clip, Sentence
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["DescribedClips", "candidates_setting", "read_described"]

_SAME_TIME = 0.05  # seconds by which times of a file may differ from those of the library


def candidates_setting() -> Any:
    """Declare the setting that says what might be said of each clip."""
    return setting(
        None,
        "What might be said of each clip, as JSON lines of video, start, end and candidates; by "
        "default all sentences of the library's patterns about the things its video is said to "
        "show, or those that differ in one word.",
        metavar="FILE",
        default_text="made of the library's sentences",
    )


@dataclass(frozen=True)
class DescribedClips:
    """Clips, and what is true and what is false of them.

    Attributes:
        lexicon: The grammar of the sentences.
        clips: The clips, their things named if words need it.
        sentences: Per clip its true sentences.
        rivals: Per clip the false sentences that compete with them.
        given: Whether some rivals come from a file, or from other clips of the same video.
        cut: Whether most sentences are about a part of their video, with its times.
    """

    lexicon: "Lexicon"
    clips: Sequence["Clip"]
    sentences: Sequence[Sequence["Sentence"]]
    rivals: Sequence[Sequence["Sentence"]]
    given: bool
    cut: bool

    @property
    def num_sentences(self) -> int:
        """Number of pairs of a clip and a sentence."""
        return sum(map(len, self.sentences))

    def part(self, numbers: Sequence[int]) -> "DescribedClips":
        """Return some of the clips."""
        return replace(
            self,
            clips=[self.clips[n] for n in numbers],
            sentences=[self.sentences[n] for n in numbers],
            rivals=[self.rivals[n] for n in numbers],
        )


def read_described(
    library: "Library",
    known: "Lexicon | None",
    annotator: "ClipAnnotator | None",
    candidates: Path | None,
    reporter: Reporter,
    *,
    aligned: Sequence[Path] = (),
    random_state: int = 0,
    synonyms: bool = False,
) -> DescribedClips:
    """Read all described clips of a library; sentences that cannot be read are left out.

    Args:
        library: The library.
        known: How words combine, as far as it is written down.
        annotator: Names things or knows facts of them, if words need that.
        candidates: File of what might be said of each clip, if there is one.
        reporter: Takes what cannot be read.
        aligned: Alignments whose lines are sentences, too.
        random_state: Seed of the rivals that are drawn where there are too many.
        synonyms: Whether new words are taken for known ones that mean about the same.
    """
    from wordsight.meaning.tasks.rivals import described_by_clip, rivals_of
    from wordsight.workflows.clips import clips_with_sentences, read_aligned

    lines = read_aligned(library, aligned)
    clips, texts = clips_with_sentences(library, lines)
    asked = None if candidates is None else _candidates_of(library, clips, candidates)
    seen = clips if annotator is None else annotator.name_clips(library, clips, reporter)
    read = readable_grammar if annotator is None else annotator.grammar
    videos = [clip.video_id for clip in clips]
    if asked is None:
        lexicon, said = read(known, texts, reporter, videos=videos, synonyms=synonyms)
    else:
        lexicon, said = read(
            known, [*texts, *asked], reporter, videos=[*videos, *videos], synonyms=synonyms
        )
    sentences, candidates_read = said[: len(clips)], said[len(clips) :]
    rivals = rivals_of(clips, sentences, lexicon, random_state=random_state)
    for place, row in enumerate(candidates_read):
        if row:
            rivals[place] = row
    return DescribedClips(
        lexicon,
        seen,
        sentences,
        rivals,
        asked is not None or bool(described_by_clip(clips)),
        _are_cut(library, len(lines)),
    )


def _are_cut(library: "Library", aligned: int) -> bool:
    timed = [one.start is not None for one in library.sentences()]
    return (sum(timed) + aligned) * 2 > len(timed) + aligned


def _candidates_of(library: "Library", clips: Sequence["Clip"], path: Path) -> list[list[str]]:
    """Return the candidates of each clip; empty where the file has none."""
    from wordsight.workflows.clips import names_of

    rows: dict[str, list[tuple[float | None, float | None, list[str]]]] = {}
    for number, line in enumerate(_text_of(path).splitlines(), start=1):
        if line.strip():
            video, *row = _row(line, f"{path}, line {number}")
            rows.setdefault(video, []).append((row[0], row[1], row[2]))
    names = {video: names_of(library, video) for video in {clip.video_id for clip in clips}}
    found = []
    for clip in clips:
        own = [row for name in dict.fromkeys(names[clip.video_id]) for row in rows.get(name, ())]
        fitting = (texts for start, end, texts in own if _is_at(clip, start, end))
        found.append(next(fitting, []))
    if not any(found):
        raise WordsightError(
            f"no line of {path} is about a described clip of {library.location}: `video` must be "
            "the name or id of a video, `start` and `end` those of its sentence, in seconds."
        )
    return found


def _is_at(clip: "Clip", start: float | None, end: float | None) -> bool:
    return (start is None or abs(clip.start - start) <= _SAME_TIME) and (
        end is None or abs(clip.end - end) <= _SAME_TIME
    )


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WordsightError(f"{path} cannot be read: {error}.") from error


def _row(line: str, where: str) -> tuple[Any, ...]:
    """Return video, start, end and candidates of a line."""
    try:
        row = json.loads(line)
        video = str(row.get("video") or row["file_name"])
        start, end = (None if row.get(n) is None else float(row[n]) for n in ("start", "end"))
        texts = row["candidates"]
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError("candidates are a list of sentences")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise WordsightError(
            f'{where}: expected {{"video": NAME, "start": s, "end": s, "candidates": [sentence, '
            f"...]}}, got {line[:80]!r} ({error})."
        ) from error
    return video, start, end, texts
