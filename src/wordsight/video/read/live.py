"""`LiveSource`: frames of a camera, a network stream, a growing file or a folder of segments.

A thread reads and decodes, so that a slow consumer never delays the source. From cameras and
addresses the oldest waiting frames are dropped, and counted, when the consumer cannot keep up;
files wait for it. A source that drops is opened again.
"""

import io
import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from wordsight.closing import Closing
from wordsight.errors import VideoError
from wordsight.video.read.frame import Converter, Frame
from wordsight.video.read.reader import Sampler

__all__ = ["LiveSource"]


_SCHEMES = ("rtsp", "rtsps", "rtmp", "http", "https", "udp", "tcp", "srt")
# What a stream may open in turn, such as the segments of a playlist: never a local file.
_PROTOCOLS = "rtsp,rtp,rtmp,http,https,httpproxy,udp,tcp,tls,srt,crypto"
_SEGMENTS = (".ts", ".mkv", ".mp4", ".m4v", ".mov", ".webm", ".avi", ".flv")
_WAITING = 8  # looked-at frames that wait for the consumer
_OPENING = 10.0  # seconds an address may take to answer, and between two packets
_ANALYSED = 1_000_000  # microseconds of a stream that are looked at before it is played
_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds before a source is opened again
_STILL = 10.0  # seconds without growth after which a file has ended
_POLL = 0.1
_LONGEST_GAP = 5.0  # seconds between two frames above which the clock of the source has jumped
_UNDECODABLE = 150  # packets without one picture


class LiveSource(Closing):
    """Reads frames as they come.

    Times are seconds since the first frame, by the time stamps of the source; they go on rising
    where it is opened again or its clock jumps.

    Args:
        source: The number of a camera, an address such as ``rtsp://host/path``, a file that may
            still grow, or a folder into which segments are written.
        rate: Most frames per second to hand on; all if None.
        give_up: End after so many seconds without a new frame. By default files and folders end
            after 10 s without growth, and others never.

    Raises:
        VideoError: If there is no such file, or the address is of a kind that cannot be read.
    """

    def __init__(
        self,
        source: str | os.PathLike[str],
        *,
        rate: float | None = None,
        give_up: float | None = None,
    ) -> None:
        self.address = os.fspath(source)
        self.name = _without_password(self.address)
        self.is_file = not self.name.isdigit() and "://" not in self.name
        self._path = Path(self.address)
        if self.is_file and not self._path.exists():
            raise VideoError(
                f"there is no file or folder {self.name}; a camera is a number such as 0, and an "
                "address begins with rtsp:// or http://."
            )
        if "://" in self.name and self.name.partition("://")[0].lower() not in _SCHEMES:
            known = ", ".join(f"{scheme}://" for scheme in _SCHEMES)
            raise VideoError(f"{self.name} cannot be watched; an address begins with {known}.")
        self._give_up = give_up if give_up is not None else (_STILL if self.is_file else None)
        self._sampler = Sampler(rate)
        self._converter = Converter()
        self._ready = threading.Condition()
        self._waiting: deque[tuple[Frame, float]] = deque()
        self._problems: deque[str] = deque(maxlen=16)
        self._done = False
        self._thread: threading.Thread | None = None
        self._last: float | None = None  # stream time of the last picture
        self._arrived = 0.0  # when it came, by the clock of this machine
        self._offset: float | None = None  # stream time less the source's own time
        self._count = 0
        self.num_dropped = 0
        self.latest_arrival = 0.0

    def frames(self, idle: Callable[[], None] = lambda: None) -> Iterator[Frame]:
        """Yield frames until the source ends or is closed.

        Args:
            idle: Called several times a second while there is none.
        """
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="live source", daemon=True)
            self._thread.start()
        while True:
            with self._ready:
                if not self._waiting and not self._done:
                    self._ready.wait(_POLL)
                taken = self._waiting.popleft() if self._waiting else None
                self._ready.notify_all()
            if taken is not None:
                # What waits in a file is not late.
                self.latest_arrival = time.monotonic() if self.is_file else taken[1]
                yield taken[0]
            elif self._done:
                return
            else:
                idle()

    def problems(self) -> list[str]:
        """Return what went wrong since the last call, such as a connection that was lost."""
        with self._ready:
            found = list(self._problems)
            self._problems.clear()
        return found

    def close(self) -> None:
        """Stop reading."""
        with self._ready:
            self._done = True
            self._ready.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=2.0)

    # --- in the thread ----------------------------------------------------------------------

    def _run(self) -> None:
        try:
            if self.is_file:
                self._read_files()
            else:
                self._read_again_and_again()
        except Exception as error:  # a thread must not die without a word
            self._problem(f"{self.name}: {error}")
        with self._ready:
            self._done = True
            self._ready.notify_all()

    def _read_again_and_again(self) -> None:
        pause, begun = _FIRST_PAUSE, time.monotonic()
        while not self._done:
            count = self._count
            try:
                self._read(self._opened())
                why = "the stream ended"
            except (VideoError, av.FFmpegError, OSError) as error:
                why = _reason(error)
            if self._done:
                return
            # A source that gave pictures is asked again at once.
            pause = _FIRST_PAUSE if self._count > count else min(2 * pause, _LONGEST_PAUSE)
            still = time.monotonic() - max(self._arrived, begun)
            if self._give_up is not None and still + pause > self._give_up:
                self._problem(f"{self.name}: {why}; given up.")
                return
            self._problem(f"{self.name}: {why}; trying again in {pause:g} s.")
            self._offset = None
            with self._ready:
                self._ready.wait_for(lambda: self._done, pause)

    def _read_files(self) -> None:
        if not self._path.is_dir():
            self._read_file(self._path, lambda: False)
            return
        read: set[Path] = set()
        since = time.monotonic()
        while not self._done:
            segment = next((one for one in self._segments() if one not in read), None)
            if segment is not None:
                read.add(segment)
                # A segment is whole as soon as there is a later one.
                self._read_file(segment, partial(self._is_followed, segment))
                read.intersection_update(self._segments())
                since = time.monotonic()
            elif self._give_up is not None and time.monotonic() - since > self._give_up:
                return
            else:
                time.sleep(_POLL)

    def _is_followed(self, segment: Path) -> bool:
        return any(one.name > segment.name for one in self._segments())

    def _segments(self) -> list[Path]:
        found = (one for one in self._path.iterdir() if one.suffix.lower() in _SEGMENTS)
        return sorted(found, key=lambda one: one.name)

    def _read_file(self, path: Path, finished: Callable[[], bool]) -> None:
        self._offset = None
        try:
            if _index_last(path):
                self._read(
                    av.open(f"file:{path}", container_options={"protocol_whitelist": "file"})
                )
                return
            with _GrowingFile(path, self._give_up, finished, lambda: self._done) as file:
                self._read(av.open(file, "r"))
        except (VideoError, av.FFmpegError, OSError) as error:
            self._problem(f"{path}: {_reason(error)}")

    def _opened(self) -> InputContainer:
        if self.name.isdigit():
            device = f"/dev/video{self.name}"
            if not Path(device).exists():
                raise VideoError(f"there is no camera {self.name} ({device})")
            return av.open(device, format="v4l2")
        return av.open(
            self.address,
            timeout=(_OPENING, _OPENING),
            container_options={
                "protocol_whitelist": _PROTOCOLS,
                "rtsp_transport": "tcp",
                "analyzeduration": str(_ANALYSED),
            },
        )

    def _read(self, container: InputContainer) -> None:
        with container:
            stream = _video_of(container)
            useless, before = 0, self._count
            for packet in container.demux(stream):
                useless += packet.size > 0
                with suppress(av.InvalidDataError):  # a broken picture; the next may be whole
                    for picture in packet.decode():
                        useless = 0
                        self._take(picture, stream)
                if self._done:
                    return
                if useless > _UNDECODABLE:
                    break
            if useless > _UNDECODABLE or (useless and self._count == before):
                raise VideoError(f"its pictures cannot be decoded ({_codec(stream)})")

    def _take(self, picture: av.VideoFrame, stream: VideoStream) -> None:
        now = time.monotonic()
        own = picture.time if picture.time is not None else now
        pause, longest = now - self._arrived, _LONGEST_GAP
        if not self.is_file:  # a camera that was away for long, and whose clock did not jump
            longest = max(longest, pause + 1.0)
        if self._offset is None:  # opened just now
            gone = 0.0 if self._last is None else max(pause, 0.04)
            if self.is_file:
                gone = min(gone, 0.04)
            self._offset = (self._last or 0.0) + gone - own
        moment = own + self._offset
        if self._last is not None and not 0 < moment - self._last < longest:
            if moment <= self._last and self._last - moment < 1.0:
                return  # a picture that came twice, or out of order
            self._offset += self._last + 0.04 - moment
            moment = own + self._offset
        self._last, self._arrived = moment, now
        if not self._sampler.takes(moment):
            return
        turns = round(picture.rotation / 90) % 4
        size = (picture.width, picture.height)
        frame = Frame(
            picture,
            moment,
            self._count,
            size if turns % 2 == 0 else size[::-1],
            converter=self._converter,
            quarter_turns=turns,
        )
        self._count += 1
        self._hand_on(frame, now)

    def _hand_on(self, frame: Frame, now: float) -> None:
        with self._ready:
            if self.is_file:
                self._ready.wait_for(lambda: self._done or len(self._waiting) < _WAITING)
            while len(self._waiting) >= _WAITING and not self._done:
                self._waiting.popleft()
                self.num_dropped += 1
            self._waiting.append((frame, now))
            self._ready.notify_all()

    def _problem(self, text: str) -> None:
        with self._ready:
            self._problems.append(text)


class _GrowingFile(io.RawIOBase):
    """A file whose end is where its writer is: reading waits there for more.

    Args:
        path: The file.
        give_up: Seconds without growth after which it has ended.
        finished: Whether it is known to be whole.
        stopped: Whether reading was cancelled.
    """

    def __init__(
        self,
        path: Path,
        give_up: float | None,
        finished: Callable[[], bool],
        stopped: Callable[[], bool],
    ) -> None:
        self._file = path.open("rb")
        self._give_up, self._finished, self._stopped = give_up, finished, stopped

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; none at the end."""
        since = time.monotonic()
        whole = False
        while not (data := self._file.read(size)):
            still = time.monotonic() - since
            if whole or self._stopped() or (self._give_up is not None and still > self._give_up):
                return b""
            whole = self._finished()  # what was written meanwhile is read once more
            if not whole:
                time.sleep(_POLL)
        return data

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return False: the end is not there yet."""
        return False

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()


def _index_last(path: Path) -> bool:
    """Whether the index of an MP4 file is at its end, so that it is whole and can be played."""
    with path.open("rb") as file:
        place, size = 0, path.stat().st_size
        while place + 8 <= size:
            file.seek(place)
            head = file.read(16)
            length, kind = int.from_bytes(head[:4], "big"), head[4:8]
            if length == 1:
                length = int.from_bytes(head[8:16], "big")
            if length < 8 or not kind.isalnum():
                return False
            if kind in (b"moov", b"mdat"):
                return kind == b"mdat"
            place += length
    return False


def _video_of(container: InputContainer) -> VideoStream:
    for stream in container.streams.video:
        if stream.codec_context is None:
            raise VideoError("its pictures cannot be decoded: the codec is not known")
        stream.codec_context.thread_type = "SLICE"  # threads by frame would add delay
        return stream
    kinds = sorted({stream.type for stream in container.streams})
    raise VideoError(f"it has no video, only {', '.join(kinds) or 'nothing'}")


# Many cameras take name and password as values in the path or after it.
_SECRET = re.compile(
    r"((?:\b|_)(?:user(?:name)?|usr|pass(?:word|wd)?|pwd|token|auth)=)[^&_/;?]*", re.IGNORECASE
)


def _without_password(address: str) -> str:
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    if not mark:
        return address
    return _SECRET.sub(r"\1…", f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}")


def _codec(stream: VideoStream) -> str:
    return str(stream.codec_context.name) if stream.codec_context is not None else "unknown codec"


def _reason(error: Exception) -> str:
    if isinstance(error, VideoError):
        return str(error).rstrip(".")
    if isinstance(error, av.ExitError):  # what the library calls a timeout
        return f"nothing came for {_OPENING:g} s"
    text = getattr(error, "strerror", None) or str(error)
    return f"it cannot be read ({text})"
