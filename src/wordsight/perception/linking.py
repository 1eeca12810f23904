"""Linking the detections of a clip over time, so that one thing is one track throughout.

Words are read faster and more surely on tracks than on loose detections; a detector with classes
says enough for its boxes to be linked once and for all.
"""

from dataclasses import replace

from wordsight.perception.tracker import Tracker
from wordsight.perception.tracking.coherence import Coherence
from wordsight.perception.tracks import detections_from_tracks
from wordsight.records import Clip

__all__ = ["linked"]

_GROWTH = 1.0
"""How freely the size of a box may change, per second: people who walk swing arms and legs."""


def linked(clip: Clip, tracker: Tracker | None = None) -> Clip:
    """Link boxes of one class, and take out what trembles.

    Args:
        clip: What a detector with classes saw.
        tracker: How to link and how much to smooth; by default boxes may change their size freely.

    Returns:
        The clip with identities; boxes that belong to no track are left out, gaps are filled.
    """
    chosen = tracker or Tracker(coherence=Coherence(growth=_GROWTH))
    seen = clip.detections
    tracks = chosen.track(seen, clip.video_id)
    found = detections_from_tracks(
        tracks, seen.times, seen.frame_size, label_names=seen.label_names
    )
    return replace(clip, detections=found)
