"""Naming the things in a video by the words that were taught in the studio."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.jobs.teach import TAUGHT
from wordsight.workflows.name import NameRequest, name
from wordsight.workflows.settings import make_request

if TYPE_CHECKING:
    from wordsight.attributes.recall.videos import NamedDetection

__all__ = ["name_things"]

_SHOWN = 1000  # boxes told one by one; things are told all


def name_things(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Name what was seen in a video, box by box, and thing by thing where they were followed.

    Args:
        arguments: ``video``; ``stamp`` only tells taught words apart that have changed since.
        workplace: Where to work.
    """
    from wordsight.library import Library

    folder = workplace.folder / TAUGHT
    if not folder.exists():
        raise WordsightError("no words were taught yet; do so on the Attributes page first.")
    with Library.open(workplace.library) as library:
        video = library.resolve(arguments["video"])
    settings = {"what": video, "taught": folder, "library": workplace.library}
    found = name(make_request(NameRequest, settings), progress=workplace.progress).things
    return {
        "video": video,
        "boxes": len(found),
        "things": _things(found),
        "rows": [
            {"time": one.time, "thing": one.identity, "box": list(one.box), "text": one.naming.text}
            for one in found[:_SHOWN]
        ],
    }


def _things(found: Sequence["NamedDetection"]) -> list[dict[str, Any]]:
    """Tell for every thing that was followed what it is called most often, and when it is seen."""
    things: dict[int, list[NamedDetection]] = {}
    for one in found:
        things.setdefault(one.identity, []).append(one)
    told = []
    for identity, boxes in sorted(things.items()):
        (text, count), *_ = Counter(box.naming.text for box in boxes).most_common(1)
        told.append(
            {
                "thing": identity,
                "text": text,
                "share": count / len(boxes),
                "start": boxes[0].time,
                "end": boxes[-1].time,
            }
        )
    return told
