"""Timing a text against a video of the library, with what the user pinned."""

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import atomic_path
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext

if TYPE_CHECKING:
    from wordsight.alignment import Observed
    from wordsight.library import VideoEntry

__all__ = ["ALIGNER", "ALIGNMENTS", "align_text"]

ALIGNER = "aligner"
"""Name of the folder of what was learned, as ``wordsight dictionary`` reads it."""

ALIGNMENTS = "alignments"
"""Name of the folder of alignments in the studio's folder."""


def align_text(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Align a text with a video; other videos of the same text may help.

    Args:
        arguments: ``video``, ``others``, ``text``, ``pins`` such as ``7=3:20``, ``mistakes``:
            whether steps may have been skipped, repeated or swapped; ``parses``, a bracketed parse
            for each line; ``seen``, what is touched when, instead of looking at the video;
            ``learned``, the alignment whose words are used as they are; and ``name``, the folder
            to write to.
        workplace: Where to work.
    """
    from wordsight.alignment.export import EXPORTS, as_json, write_alignment
    from wordsight.alignment.export.timeline import draw_timeline
    from wordsight.alignment.tasks import align_together
    from wordsight.alignment.text import instructions_from_text
    from wordsight.alignment.text.constraint_text import parse_constraints

    parses = [line for line in (arguments.get("parses") or "").splitlines() if line.strip()]
    instructions = instructions_from_text(arguments["text"], parses=parses or None)
    pins = parse_constraints(arguments.get("pins", ()), instructions)
    workplace.progress(0, 3, "looking at what is handled")
    ids, film, observed = _looked(arguments, workplace)
    workplace.progress(1, 3, "aligning")
    learned = _learned(arguments.get("learned"), workplace)
    timed = align_together(
        instructions,
        observed,
        constraints={ids[0]: pins},
        aligner=learned,
        fit=learned is None,
        mistakes=bool(arguments.get("mistakes", False)),
    )
    workplace.progress(2, 3, "writing")
    folder = workplace.folder / ALIGNMENTS / Path(arguments["name"]).name
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / Path(film.name).stem
    found = timed.alignments[0]
    exports = list(EXPORTS)
    write_alignment(base, found, instructions, exports, video=film.path, overwrite=True)
    draw_timeline(base.with_name(f"{base.name}.png"), found, instructions, overwrite=True)
    timed.aligner.save(folder / ALIGNER, overwrite=True)
    told = as_json(found, instructions)
    _keep(folder, arguments, ids, film, timed.aligner, told)
    happened = sum(line["happened"] for line in told["lines"])
    return {"alignment": folder.name, "lines": len(told["lines"]), "happened": happened}


def _looked(
    arguments: Mapping[str, Any], workplace: JobContext
) -> tuple[list[str], "VideoEntry", list["Observed"]]:
    """Return the videos, the one that is asked for and what is handled in each."""
    from wordsight.alignment.observe import DetectedThings

    with Library.open(workplace.library) as library:
        ids = [library.resolve(arguments["video"])]
        ids += [library.resolve(one) for one in arguments.get("others", ())]
        ids = list(dict.fromkeys(ids))
        film = library.video(ids[0])
        given = [_told(arguments["seen"], film)] if arguments.get("seen") else []
        observed = given + [
            DetectedThings(
                one, library.detections(one), duration=library.video(one).duration
            ).observe()
            for one in ids[len(given) :]
        ]
    return ids, film, observed


def _told(seen: str, film: "VideoEntry") -> "Observed":
    """Return what is touched when, as somebody wrote it down."""
    from wordsight.alignment.observe import IntervalFile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "seen.txt"
        path.write_text(seen, encoding="utf-8")
        return IntervalFile(path, film.id, film.duration).observe()


def _learned(name: str | None, workplace: JobContext) -> Any:
    from wordsight.alignment.storage import load_aligner

    if not name:
        return None
    folder = workplace.folder / ALIGNMENTS / Path(name).name / ALIGNER
    if not folder.is_dir():
        raise WordsightError("that alignment kept no words; align its text again first.")
    return load_aligner(folder)


def _keep(
    folder: Path,
    arguments: Mapping[str, Any],
    ids: list[str],
    film: "VideoEntry",
    aligner: Any,
    result: dict[str, Any],
) -> None:
    kept = {
        "video": ids[0],
        "film": film.name,
        "duration": film.duration,
        "text": arguments["text"],
        "pins": list(arguments.get("pins", ())),
        "others": ids[1:],
        "mistakes": bool(arguments.get("mistakes", False)),
        "parses": arguments.get("parses"),
        "seen": arguments.get("seen"),
        "learned": arguments.get("learned"),
        "dictionary": _dictionary(aligner),
        "result": result,
    }
    with atomic_path(folder / "studio.json") as path:
        path.write_text(json.dumps(kept), encoding="utf-8")


def _dictionary(aligner: Any) -> dict[str, list[tuple[str, float]]]:
    """Return which things each noun names, surest first, where the aligner learned that."""
    learned = getattr(aligner, "dictionary_", None) or {}
    return {
        word: sorted(things.items(), key=lambda thing: -thing[1])[:4]
        for word, things in sorted(learned.items())
    }
