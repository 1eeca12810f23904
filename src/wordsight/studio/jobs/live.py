"""A watch that runs until it is stopped; the page reads what it sees from files."""

import json
import time
from collections import deque
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.errors import WordsightError
from wordsight.files import write_text
from wordsight.studio.jobs.task import JobContext
from wordsight.studio.server import without_paths
from wordsight.workflows.detect import default_detector
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.settings import make_request
from wordsight.workflows.workflow import open_library

if TYPE_CHECKING:
    from wordsight.records import FrameDetections
    from wordsight.video import Frame
    from wordsight.workflows.watch import WatchHit

__all__ = ["LIVE", "PICTURE", "STATE", "watch_live"]

LIVE = "live"
"""Name of the folder of watches in the studio's folder."""

PICTURE, STATE = "picture.jpg", "state.json"
"""Names of the files in the folder of a watch."""

_PICTURES = 5.0  # a second
_KEPT = 100  # hits and warnings that a page shows
_WIDTH = 960


def watch_live(arguments: Mapping[str, Any], context: JobContext) -> dict[str, Any]:
    """Watch a source until it ends or the job is stopped.

    Args:
        arguments: ``name`` of the folder for picture and state; ``sentences``; ``source``, or
            ``video`` of the library that is played as if it were happening; ``detector``, ``rate``.
        context: Where to work.
    """
    from wordsight.workflows.watch import Watching, WatchRequest

    folder = context.folder / LIVE / Path(arguments["name"]).name
    source, played = arguments.get("source"), bool(arguments.get("video"))
    if played:
        with open_library(context.library) as library:
            source = library.video(arguments["video"]).path
    if not source:
        raise WordsightError("choose a film of the library, or name a camera or an address.")
    asked = {
        "source": source,
        "sentences": tuple(arguments["sentences"]),
        "library": context.library,
        "detector": arguments.get("detector") or default_detector(),
        "rate": arguments.get("rate", 10.0),
        **({"give_up": 1.0} if played else {}),
    }
    shown = _Shown(folder, played)
    with Watching(make_request(WatchRequest, asked), shown, shown.show) as watching:
        shown.label_names = watching.detector.label_names
        for hit in watching.hits():
            shown.hits.appendleft(hit)
        shown.write(watching.now)
        dropped = watching.source.num_dropped
    return {"hits": watching.num_hits, "frames": watching.num_frames, "dropped": dropped}


class _Shown(RecordingReporter):
    """Writes what the page shows: the newest picture with boxes, what was found, and warnings."""

    def __init__(self, folder: Path, played: bool) -> None:
        super().__init__()
        self._folder = folder
        self._played = played
        self._begun: float | None = None
        self._last = 0.0
        self._frames, self._now = 0, 0.0
        self.hits: deque[WatchHit] = deque(maxlen=_KEPT)
        self.label_names: tuple[str, ...] = ()

    def note(self, text: str) -> None:
        """Show something worth knowing at once: without a picture it may be all there is."""
        self.notes = [*self.notes[1 - _KEPT :], text]
        self.write(self._now)

    def warn(self, text: str) -> None:
        """Show a warning at once."""
        self.note(text)

    def show(self, frame: "Frame", seen: "FrameDetections") -> None:
        """Take a frame; a film that is played keeps to its own time."""
        self._frames += 1
        if self._played:
            self._begun = self._begun or time.monotonic() - frame.time
            time.sleep(max(0.0, frame.time - (time.monotonic() - self._begun)))
        if time.monotonic() - self._last < 1 / _PICTURES:
            return
        from wordsight.video import write_image
        from wordsight.video.draw.boxes import draw_detections

        self._last = time.monotonic()
        drawn = draw_detections(frame.image, seen, self.label_names)
        step = max(1, -(-drawn.shape[1] // _WIDTH))
        write_image(self._folder / PICTURE, drawn[::step, ::step].copy(), overwrite=True)
        self.write(frame.time)

    def write(self, now: float) -> None:
        """Write the state beside the picture."""
        self._now = now
        state = {
            "now": round(now, 2),
            "frames": self._frames,
            "hits": [_told(hit) for hit in self.hits],
            "warnings": [without_paths(text) for text in self.notes],
        }
        write_text(self._folder / STATE, json.dumps(state))


def _told(hit: "WatchHit") -> dict[str, Any]:
    names = ("text", "start", "end", "probability", "delay", "at", "dropped")
    return {name: getattr(hit, name) for name in names}
