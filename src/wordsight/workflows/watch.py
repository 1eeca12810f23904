"""``watch``: report when what a sentence says happens before a camera, while it happens."""

import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wordsight.closing import Closing
from wordsight.errors import WordsightError
from wordsight.workflows.detect import DetectorSettings
from wordsight.workflows.hit_channels import (
    HitChannel,
    HitChannels,
    MqttChannel,
    WatchHit,
    command_channel,
    make_film_folder,
    web_channel,
    write_film,
)
from wordsight.workflows.lexicon import (
    lexicon_folder,
    lexicon_setting,
    library_setting,
    load_lexicon,
)
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.settings import argument, setting
from wordsight.workflows.state_watch import StateWatch, read_state_rules
from wordsight.workflows.workflow import Result, workflow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wordsight.meaning import LearnedLexicon, SentenceHit
    from wordsight.meaning.tasks.online import SentenceWatch
    from wordsight.records import Clip, FrameDetections
    from wordsight.video import Frame
    from wordsight.workflows.annotator import ClipAnnotator

__all__ = ["WatchHit", "WatchRequest", "WatchResult", "Watching", "watch"]

_MEMORY = 12.0
"""Seconds of the past in which things are followed, at least; long windows need twice theirs."""

_BY_RULES = re.compile(r"\s*[A-Za-z]\w*\s*(\([^()]*\))?\s*").fullmatch  # NAME or name(a,b)
_MADE_UP = 2.0  # seconds of the moment that is judged before the first
_AWAY = 2.0  # seconds without a frame after which what was seen has nothing to do with what follows
_REPORT_DROPS = 10.0  # seconds between two warnings of dropped frames


class WatchRequest(DetectorSettings):
    """What is watched, what for, and where hits go."""

    source: str = argument(
        "A camera's number, an address (rtsp:// http://), a file that may grow, or a folder of "
        "segments.",
        metavar="SOURCE",
        min_length=1,
    )
    sentences: tuple[str, ...] = argument(
        "What may happen; several share the work.", metavar="SENTENCE...", min_length=1
    )
    words: Path | None = lexicon_setting()
    library: str = library_setting()
    rules: str | None = setting(
        None,
        "Rules of states: a learned model, or a file. Then also events and facts are watched for, "
        "written as PICKUP(hand,cup) or attached(hand,_).",
        metavar="FOLDER",
    )
    vocabulary: str | None = setting(
        None, "With a file of rules: declares their predicates and features.", metavar="FILE"
    )
    events: str | None = setting(
        None,
        "With rules: a file of kinds of events.",
        metavar="FILE",
        default_text="seven events of a hand, where the rules know what they need",
    )
    kind: tuple[str, ...] = setting(
        (), "With rules: the kind of a label: red,green=block.", metavar="LABEL=KIND"
    )
    rate: float = setting(10.0, "Look at most at this many frames a second.", gt=0, le=120)
    hits: Path | None = setting(
        None, "Add each hit as a line of JSON to this file.", metavar="JSONL"
    )
    srt: Path | None = setting(None, "Write subtitles that grow with each hit.", metavar="SRT")
    clips: Path | None = setting(
        None, "Write a film of each hit into this folder.", metavar="FOLDER"
    )
    around: float = setting(3.0, "Seconds before and after the moment in its film.", ge=0, le=60)
    webhook: str | None = setting(None, "Post each hit as JSON to this address.", metavar="URL")
    on_hit: str | None = setting(
        None, "Run this for each hit, with the hit as JSON on its input.", metavar="COMMAND"
    )
    mqtt: str | None = setting(
        None,
        "Publish hits to this broker, with discovery for Home Assistant.",
        metavar="mqtt://HOST/TOPIC",
    )
    give_up: float | None = setting(
        None,
        "End after so many seconds without a new frame.",
        default_text="files after 10 s, cameras and addresses never",
        gt=0,
    )
    seconds: float | None = setting(
        None, "End after so many seconds of the stream.", "--for", default_text="when it ends", gt=0
    )


@dataclass(frozen=True)
class WatchResult(Result):
    """What was reported.

    Attributes:
        hits: The hits, in order.
        seconds: How much of the stream was watched.
        frames: How many frames were looked at.
        dropped: How many were dropped because the detector was too slow.
    """

    hits: tuple[WatchHit, ...]
    seconds: float
    frames: int
    dropped: int

    def to_json(self) -> Any:
        """Return the hits and the counts as plain values."""
        return {
            "hits": [hit.to_json() for hit in self.hits],
            "seconds": self.seconds,
            "frames": self.frames,
            "dropped": self.dropped,
        }


@workflow(WatchRequest)
def watch(request: WatchRequest, *, reporter: RecordingReporter) -> WatchResult:
    """Watch a stream to its end and return all hits; :class:`Watching` gives them as they come."""
    with Watching(request, reporter) as watching:
        hits = tuple(watching.hits())
        return watching.result(hits, tuple(reporter.notes))


class Watching(Closing):
    """A watch that runs: hits as they happen.

    Args:
        request: What is watched, and what for.
        reporter: Takes warnings, such as a source that dropped.
        show: Called with each frame and what is seen in it.

    Raises:
        WordsightError: If the source, a sentence or a channel cannot be used.
    """

    def __init__(
        self,
        request: WatchRequest,
        reporter: Reporter,
        show: "Callable[[Frame, FrameDetections], None] | None" = None,
    ) -> None:
        from wordsight.meaning.tasks.online import SentenceWatch
        from wordsight.perception import load_detector
        from wordsight.video import LiveSource, RecentFrames
        from wordsight.workflows.annotator import load_annotator

        self.request = request
        self._warnings: deque[str] = deque(maxlen=64)
        self._reporter, self._show = reporter, show
        self._watches: list[SentenceWatch | StateWatch] = []
        self._texts: dict[Any, str] = {}
        self._annotator: ClipAnnotator | None = None
        said = list(request.sentences)
        if request.rules is not None:
            by_rules = [text for text in said if _BY_RULES(text)]
            said = [text for text in said if text not in by_rules]
            rules = read_state_rules(
                request.rules, request.vocabulary, request.events, request.kind
            )
            self._watches += [StateWatch(*rules, by_rules)] if by_rules else []
        if said:
            words = lexicon_folder(request.library, request.words)
            lexicon = load_lexicon(words)
            self._annotator = _usable(load_annotator(words))
            read = [_one_event(lexicon, text, reporter) for text in said]
            self._texts = dict(zip(read, said, strict=True))
            self._watches.append(SentenceWatch(lexicon, read))
        self.detector = load_detector(request.detector, **request.detector_options())
        self._stack = ExitStack()
        self.source: LiveSource = LiveSource(
            request.source, rate=request.rate, give_up=request.give_up
        )
        self._stack.enter_context(self.source)
        reach = max(one.reach for one in self._watches)
        self._memory = max(_MEMORY, 2 * reach)
        kept = reach + 2 * request.around + self._memory
        self._recent: RecentFrames | None = RecentFrames(kept) if request.clips else None
        self._films: list[tuple[float, WatchHit]] = []
        if request.clips is not None:
            make_film_folder(request.clips)
        self._film_writer = self._stack.enter_context(
            HitChannel("the writer of films", write_film, self._warnings.append)
        )
        self._channels = self._stack.enter_context(
            HitChannels(request.hits, request.srt, list(self._others()))
        )
        self._seen: deque[tuple[FrameDetections, NDArray[np.float64] | None]] = deque()
        self.num_frames, self.num_hits, self.now, self._arrived = 0, 0, 0.0, 0.0
        self._told_of_drops = (0, 0.0)
        self._problems: tuple[str, ...] = ()
        self._prepare()

    def hits(self) -> Iterator[WatchHit]:
        """Yield hits until the source ends; each was handed to all channels before."""
        frames = self.source.frames(self._report)
        for _, group in groupby(frames, key=_stretches()):
            yield from self._watched(group)
            if self._is_over():
                break
        self._report()
        if not self.num_frames:
            why = " ".join(self._problems) or "it ended before the first frame."
            raise WordsightError(f"nothing could be watched: {why}")

    def result(self, hits: tuple[WatchHit, ...], warnings: tuple[str, ...] = ()) -> WatchResult:
        """Return what was watched so far."""
        dropped = self.source.num_dropped
        return WatchResult(hits, self.now, self.num_frames, dropped, warnings=warnings)

    def close(self) -> None:
        """Stop, and let channels finish what they have."""
        self.source.close()  # first: what comes while channels finish is not dropped
        self._write_films(everything=True)
        self._stack.close()
        self._report()

    def _prepare(self) -> None:
        """Judge a moment of made-up boxes: loading what that needs would hold up the stream."""
        import numpy as np

        from wordsight.records import FrameDetections

        for number in range(round(_MADE_UP * 10)):
            boxes = np.array([[10.0 + number, 10, 30 + number, 60], [40.0, 40, 60, 60]])
            seen = FrameDetections(number / 10, boxes, np.ones(2), np.zeros(2, np.int32))
            self._seen.append((seen, np.zeros((2, 2))))
        clip = self._clip((96, 72), _MADE_UP)
        self._seen.clear()
        for one in self._watches:
            one.prepare(clip)

    def _watched(self, frames: "Iterator[Frame]") -> Iterator[WatchHit]:
        """Yield the hits in frames of one stretch."""
        from wordsight.perception.detectors.observe import look

        self._seen.clear()
        size, since_last = (0, 0), 0.0
        for frame, found, flow in look(frames, self.detector):
            if not self._seen:
                for one in self._watches:
                    one.begin(frame.time)
            size, before = frame.size, since_last
            since_last = frame.time - self.now if self._seen else 0.0
            # How long a frame lasts: after a pause no longer than before it.
            step = min(since_last, before or since_last)
            self.now, self._arrived = frame.time, self.source.latest_arrival
            self.num_frames += 1
            self._seen.append((found, flow))
            while self._seen[0][0].time < self.now - self._memory:
                self._seen.popleft()
            if self._recent is not None:
                self._recent.add(frame)
            if self._show is not None:
                self._show(frame, found)
            if due := [one for one in self._watches if one.due(self.now + step)]:
                yield from self._judged(due, size, self.now + max(step, 1e-3))
            for one in self._watches:
                for hit in one.release(self.now + step):
                    yield self._deliver(one, hit)
            self._write_films()
            self._report()
            if self._is_over():
                break
        if self._seen:
            yield from self._judged(self._watches, size, self.now + 1e-3, ended=True)

    def _is_over(self) -> bool:
        return self.request.seconds is not None and self.now >= self.request.seconds

    def _judged(
        self,
        due: "Sequence[SentenceWatch | StateWatch]",
        size: tuple[int, int],
        end: float,
        *,
        ended: bool = False,
    ) -> Iterator[WatchHit]:
        clip = self._clip(size, end)
        for one in due:
            for hit in one.look(clip, ended=ended):
                yield self._deliver(one, hit)

    def _clip(self, size: tuple[int, int], end: float) -> "Clip":
        """Return what was seen in the last seconds, followed as where words were learned."""
        from wordsight.meaning.features import AnnotatedClip
        from wordsight.records import Clip, Detections
        from wordsight.workflows.clips import followed

        seen = Detections.from_frames(
            (found for found, _ in self._seen),
            label_names=self.detector.label_names,
            frame_size=size,
            flow=[flow for _, flow in self._seen if flow is not None],
        )
        clip = followed(Clip(self.source.name, float(seen.times[0]), end, seen))
        if self._annotator is None or self._annotator.stated is None:
            return clip
        import numpy as np

        facts = self._annotator.stated.facts(clip)
        none = np.zeros((0, *clip.mask.shape), np.int64)
        return AnnotatedClip(clip.video_id, clip.start, clip.end, clip.detections, (), none, facts)

    def _deliver(self, by: "SentenceWatch | StateWatch", found: "SentenceHit") -> WatchHit:
        waited = max(time.monotonic() - self._arrived, 0.0)
        hit = WatchHit(
            self.source.name,
            round(found.start, 3),
            round(found.end, 3),
            found.score,
            self._texts.get(found.text, found.text),
            round(by.probability(found.score), 4),
            round(max(self.now - found.end, 0.0) + waited, 3),
            datetime.now(UTC).isoformat(timespec="milliseconds"),
            found.evidence,
            dropped=self.source.num_dropped,
        )
        if self.request.clips is not None:
            name = f"{hit.at[:19].replace(':', '')}-{self.num_hits}-{hit.start:.1f}.mp4"
            hit = replace(hit, clip=self.request.clips / name)
            self._films.append((hit.end + self.request.around, hit))
        self.num_hits += 1
        self._channels.put(hit)
        return hit

    def _write_films(self, *, everything: bool = False) -> None:
        """Write the films of hits whose last second has passed."""
        if self._recent is None:
            return
        due = [one for one in self._films if everything or one[0] <= self.now]
        for until, hit in due:
            self._films.remove((until, hit))
            pictures = self._recent.between(hit.start - self.request.around, until)
            self._film_writer.put((hit, pictures))

    def _others(self) -> "Iterator[HitChannel[WatchHit] | MqttChannel]":
        asked, warn = self.request, self._warnings.append
        if asked.webhook is not None:
            yield web_channel(asked.webhook, warn)
        if asked.on_hit is not None:
            yield command_channel(asked.on_hit, warn)
        if asked.mqtt is not None:
            yield MqttChannel(asked.mqtt, self.source.name, asked.sentences, warn)

    def _report(self) -> None:
        """Pass on what went wrong in threads, and that frames were dropped."""
        problems = self.source.problems()
        self._problems = tuple(problems) or self._problems
        for text in problems:
            self._reporter.warn(text)
        while self._warnings:
            self._reporter.warn(self._warnings.popleft())
        before, when = self._told_of_drops
        dropped = self.source.num_dropped
        if dropped > before and time.monotonic() - when > _REPORT_DROPS:
            self._told_of_drops = (dropped, time.monotonic())
            self._reporter.warn(
                f"{dropped - before} frames were dropped: the detector is slower than the source. "
                "A lower --rate looks at fewer."
            )


def _stretches() -> "Callable[[Frame], int]":
    """Return what numbers the stretches of a stream, called with each frame in order.

    Another begins where the size changes, or where no frame came for long: a camera was away.
    """
    number, last, before = 0, None, 0.0

    def stretch(frame: "Frame") -> int:
        nonlocal number, last, before
        if last is not None:
            size, time_of_last = last
            step = frame.time - time_of_last
            number += frame.size != size or step > max(_AWAY, 3 * before)
            before = step
        last = (frame.size, frame.time)
        return number

    return stretch


def _usable(annotator: "ClipAnnotator | None") -> "ClipAnnotator | None":
    if annotator is not None and annotator.taught is not None:
        raise WordsightError(
            "these words were learned with words taught by pictures, which cannot be watched for; "
            "learn without --attributes, and name the result with --words."
        )
    return annotator


def _one_event(lexicon: "LearnedLexicon", text: str, reporter: Reporter) -> Any:
    """Return the sentence of a text that says one thing.

    Raises:
        WordsightError: If a word is not known, or the text says several things or none.
    """
    understood = lexicon.query(text)
    said = understood.statements
    if understood.question is not None or len(said) != 1 or said[0].negated:
        raise WordsightError(
            f"{text!r} cannot be watched for: a sentence says one thing that happens, such as "
            f"{lexicon.example!r} Watch for several events as several sentences."
        )
    if not understood.is_literal:
        reporter.note(understood.explanation())
    return said[0].sentence
