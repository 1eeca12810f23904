"""Linking the detections of a clip over time, so that one thing is one track throughout.

Words are read faster and more surely on tracks than on loose detections; a detector with classes
says enough for its boxes to be linked once and for all.
"""

from dataclasses import replace

from wordsight.perception.tracker import Tracker
from wordsight.perception.tracks import detections_from_tracks
from wordsight.records import Clip

__all__ = ["linked"]

SMOOTHING = 0.3
"""Half the stretch of time, in seconds, over which boxes of a track are smoothed: a detector's
boxes tremble, and velocities are differences."""


def linked(clip: Clip, tracker: Tracker | None = None) -> Clip:
    """Link boxes of one class, and take out what trembles.

    Args:
        clip: What a detector with classes saw.
        tracker: How to link; smooths over 0.3 s to either side if not given.

    Returns:
        The clip with identities; boxes that belong to no track are left out, gaps are filled.
    """
    seen = clip.detections
    tracks = (tracker or Tracker(smoothing=SMOOTHING)).track(seen, clip.video_id)
    found = detections_from_tracks(
        tracks, seen.times, seen.frame_size, label_names=seen.label_names
    )
    return replace(clip, detections=found)
