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
from wordsight.workflows.align import AlignRequest, align
from wordsight.workflows.settings import make_request

if TYPE_CHECKING:
    from wordsight.alignment import AlignmentModel

__all__ = ["ALIGNER", "ALIGNMENTS", "align_text"]

ALIGNER = "aligner"
"""Name of the folder of what was learned, as ``wordsight dictionary`` reads it."""

ALIGNMENTS = "alignments"
"""Name of the folder of alignments in the studio's folder."""


def align_text(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Align a text with a video and keep the alignment with all its files.

    Args:
        arguments: The body of the request, see :class:`wordsight.studio.api.align.AlignBody`, and
            ``name``, the folder to write to.
        workplace: Where to work.
    """
    from wordsight.alignment.export import EXPORTS

    with Library.open(workplace.library) as library:
        video = library.video(library.resolve(arguments["video"]))
        others = dict.fromkeys(library.resolve(one) for one in arguments.get("others", ()))
    others.pop(video.id, None)
    folder = workplace.folder / ALIGNMENTS / Path(arguments["name"]).name
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / Path(video.name).stem
    with tempfile.TemporaryDirectory() as texts:
        request = make_request(
            AlignRequest,
            {
                "video": video.id,
                "text": arguments["text"] + "\n",  # the text itself, not the name of a file
                "others": tuple(others),
                "constraint": tuple(arguments.get("pins", ())),
                "mistakes": bool(arguments.get("mistakes", False)),
                "model": arguments.get("model"),
                "parses": _as_file(arguments.get("parses"), Path(texts) / "parses.txt"),
                "seen": _as_file(arguments.get("seen"), Path(texts) / "seen.txt"),
                "aligner": _learned(arguments.get("learned"), workplace),
                "output": base,
                "formats": tuple(EXPORTS),
                "plot": base.with_name(f"{base.name}.png"),
                "save": folder / ALIGNER,
                "library": workplace.library,
                "force": True,
            },
        )
        result = align(request, progress=workplace.progress)
    value = result.to_json()
    del value["files"]
    kept = {
        "video": video.id,
        "film": video.name,
        "duration": video.duration,
        "text": arguments["text"],
        "pins": list(arguments.get("pins", ())),
        "others": list(others),
        "mistakes": bool(arguments.get("mistakes", False)),
        "model": arguments.get("model"),
        "parses": arguments.get("parses"),
        "seen": arguments.get("seen"),
        "learned": arguments.get("learned"),
        "dictionary": _dictionary(result.aligner),
        "result": value,
    }
    with atomic_path(folder / "studio.json") as path:
        path.write_text(json.dumps(kept), encoding="utf-8")
    happened = sum(line["happened"] for line in value["lines"])
    return {"alignment": folder.name, "lines": len(value["lines"]), "happened": happened}


def _as_file(text: str | None, path: Path) -> Path | None:
    if not text or not text.strip():
        return None
    path.write_text(text, encoding="utf-8")
    return path


def _learned(name: str | None, workplace: JobContext) -> Path | None:
    if not name:
        return None
    folder = workplace.folder / ALIGNMENTS / Path(name).name / ALIGNER
    if not folder.is_dir():
        raise WordsightError("that alignment kept no words; align its text again first.")
    return folder


def _dictionary(aligner: "AlignmentModel") -> dict[str, list[tuple[str, float]]]:
    """Return which things each noun names, the most probable first, if the aligner learned it."""
    learned = getattr(aligner, "dictionary_", None) or {}
    return {
        word: sorted(things.items(), key=lambda thing: -thing[1])[:4]
        for word, things in sorted(learned.items())
    }
