"""Where hits of a watch go: files that grow, a web address, a command, a message broker.

What may be slow has a thread and a short queue of its own: an address that hangs costs the hits
that no longer fit its queue, which is reported, and never a frame.
"""

import hashlib
import json
import os
import re
import shlex
import subprocess
import threading
import urllib.request
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, Full, Queue
from tempfile import NamedTemporaryFile
from typing import Any, Generic, TypeVar
from urllib.parse import SplitResult, unquote, urlsplit

from wordsight.closing import Closing
from wordsight.errors import WordsightError
from wordsight.workflows.workflow import as_json

__all__ = [
    "HitChannel",
    "HitChannels",
    "MqttChannel",
    "WatchHit",
    "command_channel",
    "make_film_folder",
    "topic_of",
    "web_channel",
    "write_film",
]

Item = TypeVar("Item")

_QUEUED = 64  # hits that wait for a slow channel
_WEB_SECONDS, _COMMAND_SECONDS = 5.0, 60.0
_CLOSING_SECONDS = 6.0


@dataclass(frozen=True)
class WatchHit:
    """A moment at which something that is watched for happened.

    Attributes:
        source: What is watched.
        start: Start of the moment, in seconds since the watch began.
        end: Its end.
        score: As of a search: comparable between moments.
        text: The sentence, or the event.
        probability: How sure.
        delay: Seconds from the end of the moment until it was reported.
        at: When it was reported, as ISO 8601.
        evidence: Per word its mean log ratio per frame.
        clip: The film of the moment, if one is written; it is complete a few seconds later.
        dropped: Frames dropped so far because the detector was too slow.
    """

    source: str
    start: float
    end: float
    score: float
    text: str
    probability: float
    delay: float
    at: str
    evidence: tuple[tuple[str, float], ...] = ()
    clip: Path | None = None
    dropped: int = 0

    def to_json(self) -> dict[str, Any]:
        """Return plain values that JSON can hold."""
        return {name: as_json(value) for name, value in asdict(self).items()}


class HitChannel(Closing, Generic[Item]):
    """Hands hits, or what belongs to them, to a function in a thread of its own.

    Args:
        name: What it is, for warnings.
        send: Called with each hit; errors become warnings.
        warn: Takes warnings, in the thread of the channel.
    """

    def __init__(
        self, name: str, send: Callable[[Item], None], warn: Callable[[str], None]
    ) -> None:
        self._name, self._send, self._warn = name, send, warn
        self._queue: Queue[Item | None] = Queue(_QUEUED)
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def put(self, item: Item) -> None:
        """Hand a hit over without waiting."""
        try:
            self._queue.put_nowait(item)
        except Full:
            self._warn(f"{self._name} is too slow: a hit was lost there.")

    def close(self) -> None:
        """Send what waits, for a few seconds at most."""
        while True:
            try:
                self._queue.put_nowait(None)
                break
            except Full:  # it hangs: the oldest gives way to the word to end
                with suppress(Empty):
                    self._queue.get_nowait()
        self._thread.join(_CLOSING_SECONDS)

    def _work(self) -> None:
        while (item := self._queue.get()) is not None:
            try:
                self._send(item)
            except Exception as error:  # whatever it is, the watch goes on
                self._warn(f"{self._name} failed: {error}")


class HitChannels(Closing):
    """All places hits go to.

    Args:
        hits: A file that gets one line of JSON per hit, behind those it has.
        subtitles: An SRT file that gets one cue per hit; started over, because its times are.
        others: What may be slow.

    Raises:
        WordsightError: If a file cannot be written.
    """

    def __init__(
        self,
        hits: Path | None,
        subtitles: Path | None,
        others: Sequence["HitChannel[WatchHit] | MqttChannel"],
    ) -> None:
        self._count = 0
        self._others = tuple(others)
        self._hits, self._subtitles = _opened(hits, "a"), _opened(subtitles, "w")

    def put(self, hit: WatchHit) -> None:
        """Write a hit and hand it to all others."""
        from wordsight.language.captions.subtitles import clock

        self._count += 1
        if self._hits is not None:
            self._hits.write(json.dumps(hit.to_json(), ensure_ascii=False) + "\n")
            self._hits.flush()
        if self._subtitles is not None:
            times = " --> ".join(clock(max(one, 0.0), ",") for one in (hit.start, hit.end))
            self._subtitles.write(f"{self._count}\n{times}\n{hit.text}\n\n")
            self._subtitles.flush()
        for one in self._others:
            one.put(hit)

    def close(self) -> None:
        """Close the files, and let the others finish."""
        for file in (self._hits, self._subtitles):
            if file is not None:
                file.close()
        for one in self._others:
            one.close()


def _opened(path: Path | None, mode: str) -> Any:
    if path is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open(mode, encoding="utf-8")
    except OSError as error:
        raise WordsightError(
            f"{path} cannot be written ({error.strerror}); name another file."
        ) from None


def make_film_folder(folder: Path) -> None:
    """Make the folder of films, if it is not there.

    Raises:
        WordsightError: If no film can be written into it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise WordsightError(
            f"no film can be written into {folder} ({error.strerror}); name another folder."
        ) from None


def write_film(job: tuple[WatchHit, list[tuple[float, bytes]]]) -> None:
    """Write the film of a hit, of pictures with their times."""
    from wordsight.video import RecentFrames

    hit, pictures = job
    assert hit.clip is not None
    hit.clip.parent.mkdir(parents=True, exist_ok=True)  # which may have been taken away since
    RecentFrames.write(hit.clip, pictures)


def web_channel(address: str, warn: Callable[[str], None]) -> HitChannel[WatchHit]:
    """Return a channel that posts each hit as JSON to a web address.

    Raises:
        WordsightError: If it is no web address.
    """
    parts = _parted(address, ("http", "https"))
    if parts is None:
        raise WordsightError(
            "a webhook is an address such as http://host:8123/hook, got "
            f"{address.rpartition('@')[2]}."
        )
    headers = {"Content-Type": "application/json", "User-Agent": "wordsight"}
    if parts.username:
        known = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {b64encode(known.encode()).decode()}"
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()

    def send(hit: WatchHit) -> None:
        request = urllib.request.Request(bare, json.dumps(hit.to_json()).encode(), headers)
        with urllib.request.urlopen(request, timeout=_WEB_SECONDS) as answer:
            answer.read(1024)

    return HitChannel(f"the webhook {parts.hostname}", send, warn)


def command_channel(command: str, warn: Callable[[str], None]) -> HitChannel[WatchHit]:
    """Return a channel that runs a command for each hit, with the hit as JSON on its input.

    The words of the command are split as a shell does, but no shell runs them. The sentence, start,
    end, probability and clip are in ``WORDSIGHT_TEXT`` and so on as well.

    Raises:
        WordsightError: If there is no such program.
    """
    from shutil import which

    try:
        words = shlex.split(command)
    except ValueError as error:
        raise WordsightError(f"the command {command!r} cannot be read: {error}.") from None
    if not words or which(words[0]) is None:
        raise WordsightError(f"there is no program {words[0] if words else command!r} to run.")

    def send(hit: WatchHit) -> None:
        known = {k: v for k, v in hit.to_json().items() if isinstance(v, str | int | float)}
        extra = {f"WORDSIGHT_{name.upper()}": str(value) for name, value in known.items()}
        done = subprocess.run(
            words,
            input=json.dumps(hit.to_json()).encode(),
            env={**os.environ, **extra},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise WordsightError(f"exit {done.returncode}{': ' + said[-1] if said else ''}")

    return HitChannel(f"the command {words[0]}", send, warn)


class MqttChannel(Closing):
    """Publishes hits to an MQTT broker, announced as Home Assistant expects it.

    Each sentence is a binary sensor that is on for a while after a hit; its attributes are the
    hit. Announcements are retained, and the broker says ``offline`` when the watch ends or dies.
    The connection is made, and made again, in a thread; hits wait for it.

    Args:
        address: ``mqtt://user:password@host:port/topic``; only the host is needed.
        source: What is watched.
        sentences: What is watched for.
        warn: Takes warnings.

    Raises:
        WordsightError: If it is no such address, or paho-mqtt is not installed.
    """

    _ON_SECONDS = 30

    def __init__(
        self, address: str, source: str, sentences: Sequence[str], warn: Callable[[str], None]
    ) -> None:
        parts = _parted(address, ("mqtt", "mqtts"))
        if parts is None:
            raise WordsightError(
                "an MQTT broker is given as mqtt://user:password@host:1883/topic, got "
                f"{address.rpartition('@')[2]}."
            )
        try:
            from paho.mqtt.client import Client
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise WordsightError(
                "MQTT needs the package paho-mqtt: pip install 'wordsight[mqtt]'."
            ) from None
        self._warn, self._name = warn, f"the broker {parts.hostname}"
        self._base = f"{parts.path.strip('/') or 'wordsight'}/{topic_of(source)}"
        self._source, self._sentences = source, tuple(sentences)
        self._client = Client(CallbackAPIVersion.VERSION2)
        if parts.username:
            self._client.username_pw_set(unquote(parts.username), unquote(parts.password or ""))
        if parts.scheme == "mqtts":
            self._client.tls_set()
        self._client.will_set(f"{self._base}/status", "offline", qos=1, retain=True)
        self._client.on_connect = self._announce
        self._client.on_connect_fail = lambda *_: warn(f"{self._name} does not answer.")
        self._client.max_queued_messages_set(_QUEUED)
        self._client.reconnect_delay_set(1, 30)
        port = parts.port or (8883 if parts.scheme == "mqtts" else 1883)
        self._client.connect_async(str(parts.hostname), port, keepalive=30)
        self._client.loop_start()

    def put(self, hit: WatchHit) -> None:
        """Publish a hit: first its attributes, then that the sensor is on."""
        topic = f"{self._base}/{topic_of(hit.text)}"
        self._client.publish(f"{topic}/hit", json.dumps(hit.to_json()), qos=1)
        last = self._client.publish(f"{topic}/state", "ON", qos=1)
        if last.rc not in (0, 4):  # 4: not connected, so it waits
            self._warn(f"{self._name} is too slow: a hit was lost there.")

    def close(self) -> None:
        """Say that the watch ended, and leave."""
        if self._client.is_connected():
            status = self._client.publish(f"{self._base}/status", "offline", qos=1, retain=True)
            status.wait_for_publish(_CLOSING_SECONDS)
        self._client.disconnect()
        self._client.loop_stop()

    def _announce(self, client: Any, _data: Any, _flags: Any, reason: Any, _more: Any) -> None:
        if reason.is_failure:
            self._warn(f"{self._name} refuses: {reason}.")
            return
        device = {
            "identifiers": [f"wordsight_{topic_of(self._source)}"],
            "name": f"Wordsight {topic_of(self._source)}",
            "manufacturer": "Wordsight",
        }
        for text in self._sentences:
            name = f"wordsight_{topic_of(self._source)}_{topic_of(text)}"
            topic = f"{self._base}/{topic_of(text)}"
            known = {
                "name": text,
                "unique_id": name,
                "state_topic": f"{topic}/state",
                "payload_on": "ON",
                "off_delay": self._ON_SECONDS,
                "json_attributes_topic": f"{topic}/hit",
                "availability_topic": f"{self._base}/status",
                "device": device,
            }
            place = f"homeassistant/binary_sensor/{name}/config"
            client.publish(place, json.dumps(known), qos=1, retain=True)
        client.publish(f"{self._base}/status", "online", qos=1, retain=True)


def _parted(address: str, schemes: Sequence[str]) -> SplitResult | None:
    """Return the parts of an address; None if it is none of these schemes."""
    try:
        parts = urlsplit(address)
        known = parts.scheme in schemes and parts.hostname and parts.port != 0
    except ValueError:  # such as a port that is no number
        return None
    return parts if known else None


_PLAIN = re.compile(r"[\w .,:/'-]+", re.ASCII).fullmatch


def topic_of(text: str) -> str:
    """Return a text as topics may have it; an address without its password.

    Where that leaves out what tells it from others, it ends in a number made of all of it.
    """
    _, mark, rest = text.partition("://")
    if mark:
        host, slash, path = rest.partition("/")
        text = host.rpartition("@")[2] + slash + path
    words = re.sub(r"[^a-z0-9]+", "_", text.partition("?")[0].lower()).strip("_")
    shown = words[:60].strip("_")
    if shown == words and _PLAIN(text):
        return shown or "source"
    return f"{shown}_{hashlib.sha256(text.encode()).hexdigest()[:6]}".strip("_")
