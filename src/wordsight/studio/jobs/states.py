"""Inferring states and events of a video with the studio's rules."""

import json
from collections.abc import Mapping
from typing import Any

from wordsight.files import atomic_path
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext
from wordsight.workflows.settings import make_request
from wordsight.workflows.states import FindEventsRequest, find_events

__all__ = ["infer_states", "states_file"]


def states_file(video_id: str) -> str:
    """Return the name of the file that keeps the states of a video."""
    return f"states/video-{video_id}.json"


def infer_states(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Infer which facts hold when in a video, and what happens.

    Args:
        arguments: ``video``.
        workplace: Where to work.
    """
    from wordsight.studio.states import read_rules

    with Library.open(workplace.library) as library:
        video = library.video(library.resolve(arguments["video"]))
    settings = read_rules(workplace.folder).settings()
    settings |= {"inputs": (video.id,), "library": workplace.library}
    result = find_events(make_request(FindEventsRequest, settings), progress=workplace.progress)
    (sequence,) = result.sequences
    states: dict[str, Any] = {
        "video": video.id,
        "duration": video.duration,
        "facts": [
            {"start": row.start, "end": row.end, "fact": str(row.fact)}
            for row in sequence.intervals()
        ],
        "events": [
            {"start": event.start, "end": event.end, "event": str(event)} for event in result.events
        ],
    }
    target = workplace.folder / states_file(video.id)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target, overwrite=True) as path:
        path.write_text(json.dumps(states), encoding="utf-8")
    return {"video": video.id, "facts": len(states["facts"]), "events": len(result.events)}
