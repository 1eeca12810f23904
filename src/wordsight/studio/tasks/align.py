"""Timing a text against a video of the library, with what the user pinned."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wordsight.files import atomic_path
from wordsight.library import Library
from wordsight.studio.tasks.task import Workplace

__all__ = ["ALIGNMENTS", "align_text"]

ALIGNMENTS = "alignments"
"""Name of the folder of alignments in the studio's folder."""


def align_text(arguments: Mapping[str, Any], workplace: Workplace) -> dict[str, Any]:
    """Align a text with a video; other videos of the same text may help.

    Args:
        arguments: ``video``, ``others``, ``text``, ``pins`` such as ``7=3:20``, ``mistakes``:
            whether steps may have been skipped, repeated or swapped, and ``name``, the folder to
            write to.
        workplace: Where to work.
    """
    from wordsight.alignment.exports import EXPORTS, as_json, write_alignment
    from wordsight.alignment.pins import parse_pins
    from wordsight.alignment.tasks import align_together
    from wordsight.alignment.text import instructions_from_text
    from wordsight.alignment.watching import DetectedThings

    instructions = instructions_from_text(arguments["text"])
    pins = parse_pins(arguments.get("pins", ()), instructions)
    workplace.progress(0, 3, "looking at what is handled")
    with Library.open(workplace.library) as library:
        ids = [library.resolve(arguments["video"])]
        ids += [library.resolve(one) for one in arguments.get("others", ())]
        observed = [
            DetectedThings(
                one, library.detections(one), duration=library.video(one).duration
            ).observe()
            for one in dict.fromkeys(ids)
        ]
        film = library.video(ids[0])
    workplace.progress(1, 3, "aligning")
    mistakes = bool(arguments.get("mistakes", False))
    timed = align_together(instructions, observed, constraints={ids[0]: pins}, mistakes=mistakes)
    workplace.progress(2, 3, "writing")
    folder = workplace.folder / ALIGNMENTS / Path(arguments["name"]).name
    folder.mkdir(parents=True, exist_ok=True)
    write_alignment(
        folder / Path(film.name).stem,
        timed.alignments[0],
        instructions,
        list(EXPORTS),
        video=film.path,
        overwrite=True,
    )
    found = as_json(timed.alignments[0], instructions)
    kept = {
        "video": ids[0],
        "film": film.name,
        "duration": film.duration,
        "text": arguments["text"],
        "pins": list(arguments.get("pins", ())),
        "others": ids[1:],
        "mistakes": mistakes,
        "dictionary": _dictionary(timed.aligner),
        "result": found,
    }
    with atomic_path(folder / "studio.json") as path:
        path.write_text(json.dumps(kept), encoding="utf-8")
    happened = sum(line["happened"] for line in found["lines"])
    return {"alignment": folder.name, "lines": len(found["lines"]), "happened": happened}


def _dictionary(aligner: Any) -> dict[str, list[tuple[str, float]]]:
    """Return which things each noun names, surest first, where the aligner learned that."""
    learned = getattr(aligner, "dictionary_", None) or {}
    return {
        word: sorted(things.items(), key=lambda thing: -thing[1])[:4]
        for word, things in sorted(learned.items())
    }
