"""Inferring states and events of a video with the studio's rules."""

import json
from collections.abc import Mapping
from typing import Any

from wordsight.files import atomic_path
from wordsight.library import Library
from wordsight.studio.jobs.task import JobContext

__all__ = ["infer_states", "states_file"]


def states_file(video_id: str) -> str:
    """Return the name of the file that keeps the states of a video."""
    return f"states/video-{video_id}.json"


def infer_states(arguments: Mapping[str, Any], workplace: JobContext) -> dict[str, Any]:
    """Infer what holds when in a video, and what happens.

    Args:
        arguments: ``video``.
        workplace: Where to work.
    """
    from wordsight.states.events.definitions import parse_events
    from wordsight.states.events.find import find_events, outermost
    from wordsight.studio.states import observe, read_rules

    rules = read_rules(workplace.folder)
    with Library.open(workplace.library) as library:
        video_id = library.resolve(arguments["video"])
        workplace.progress(0, 2, "following what is seen")
        seen = observe(library, video_id, rules)
        duration = library.video(video_id).duration
    workplace.progress(1, 2, "inferring")
    found = rules.model().predict(seen)
    events = outermost(find_events(found, parse_events(rules.events)))
    result: dict[str, Any] = {
        "video": video_id,
        "duration": duration,
        "facts": [
            {"start": row.start, "end": row.end, "fact": str(row.fact)} for row in found.intervals()
        ],
        "events": [
            {"start": event.start, "end": event.end, "event": str(event)} for event in events
        ],
    }
    target = workplace.folder / states_file(video_id)
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(target, overwrite=True) as path:
        path.write_text(json.dumps(result), encoding="utf-8")
    return {"video": video_id, "facts": len(result["facts"]), "events": len(events)}
