"""A watch from the stream to where its hits go."""

import asyncio
import json
import re
import socket
import subprocess
import sys
import threading
import time
from base64 import b64encode
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from wordsight.errors import WordsightError
from wordsight.language.captions import read_captions
from wordsight.meaning import hand_lexicon
from wordsight.perception.detectors.rendered import RENDERED_THINGS
from wordsight.video import VideoReader
from wordsight.workflows.hit_channels import (
    HitChannel,
    HitChannels,
    MqttChannel,
    WatchHit,
    command_channel,
    topic_of,
    web_channel,
)
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.watch import Watching, WatchRequest, watch
from wordsight.worlds import street

SERVER = Path(__file__).parents[1] / "video" / "serve_stream.py"
PICKED, CARRIED = "The person picked up the backpack.", "The person carried the chair."
HIT = WatchHit("cam", 1.0, 3.0, -0.2, PICKED, 0.8, 0.4, "2026-01-01T00:00:00+00:00")


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words") / "lexicon"
    # Hand-written slopes put true sentences near the limit; these tests are of what follows a hit.
    replace(hand_lexicon(RENDERED_THINGS), threshold=-1.2).save(folder)
    return folder


@pytest.fixture(scope="module")
def footage(tmp_path_factory):
    """A film in which a backpack is picked up."""
    path = tmp_path_factory.mktemp("street") / "street.mp4"
    film = next(film for film in street(12) if film.truth.holds(PICKED))
    film.write(path)
    return path


class Hook(ThreadingHTTPServer):
    """Takes what is posted to it, at once or never."""

    daemon_threads = True

    def __init__(self, hangs=False):
        got, asked = self.got, self.asked = [], []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                asked.append(self.headers["Authorization"])
                got.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                if hangs:
                    time.sleep(30)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}/hook"


def request(source, words, *sentences, **settings):
    values = {"detector": "rendered", "give_up": 0.2, "rate": 8.0} | settings
    return WatchRequest(source=str(source), sentences=sentences or (PICKED,), words=words, **values)


def until(true, seconds=10.0):
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


@pytest.mark.slow
def test_hits_go_everywhere_as_they_happen(footage, words, tmp_path):
    hook = Hook()
    result = watch(
        request(
            footage,
            words,
            PICKED,
            CARRIED,
            hits=tmp_path / "hits.jsonl",
            srt=tmp_path / "hits.srt",
            clips=tmp_path / "clips",
            around=1.0,
            webhook=hook.address,
            on_hit=f'{sys.executable} -c \'import sys; open(sys.argv[1], "wb").write('
            f"sys.stdin.buffer.read())' {tmp_path / 'run.json'}",
        )
    )
    assert result.hits and {hit.text for hit in result.hits} == {PICKED}
    (hit, *_) = result.hits
    assert 0 <= hit.start < hit.end and 0.5 <= hit.probability <= 1 and 0 <= hit.delay < 5
    lines = [json.loads(line) for line in (tmp_path / "hits.jsonl").open()]
    assert lines == [one.to_json() for one in result.hits] == hook.got
    assert json.loads((tmp_path / "run.json").read_text())["text"] == PICKED
    cues = read_captions(tmp_path / "hits.srt")
    assert [cue.text for cue in cues] == [one.text for one in result.hits]
    with VideoReader(hit.clip) as film:
        assert film.info.duration >= hit.end - hit.start
    assert result.frames > 20 and result.dropped == 0


@pytest.mark.slow
def test_a_watch_goes_on_when_its_camera_is_killed_and_started_again(footage, words, free_port):
    """By RTSP: the film is cut off before anything happens, and played again and again."""
    command = [sys.executable, str(SERVER), str(free_port), str(footage), "--rtsp"]
    servers = [subprocess.Popen(command)]

    def look(frame, seen):
        if len(servers) == 1 and frame.time > 0.5:
            servers[0].kill()
            servers[0].wait()
            servers.append(subprocess.Popen(command))

    reporter = RecordingReporter()
    asked = request(f"rtsp://127.0.0.1:{free_port}/film", words, seconds=120.0, give_up=60.0)
    try:
        with Watching(asked, reporter, look) as watching:
            hit = next(watching.hits())
    finally:
        for server in servers:
            server.kill()
            server.wait()
    assert len(servers) == 2 and hit.text == PICKED and hit.source == asked.source
    assert any("trying again" in text for text in reporter.notes)


@pytest.mark.slow
def test_a_camera_that_was_away_is_watched_anew(footage, words, monkeypatch):
    """What is seen again is judged at once, and not together with what was seen before."""
    asked = request(footage, words)
    known = watch(asked).hits

    def away(source, idle):
        for begun, seconds in ((0.0, 1.0), (100.0, 60.0)):
            with VideoReader(footage) as film:
                for frame in film.frames(end=seconds, rate=asked.rate):
                    frame.time += begun
                    source.latest_arrival = time.monotonic()
                    yield frame

    monkeypatch.setattr("wordsight.video.LiveSource.frames", away)
    again = watch(asked).hits
    assert [round(hit.start - 100, 2) for hit in again] == [round(hit.start, 2) for hit in known]
    assert again and all(hit.delay < 5 for hit in again)


LOADED = """
import sys
from wordsight.workflows.reporter import RecordingReporter
from wordsight.workflows.watch import Watching, WatchRequest
asked = WatchRequest.model_validate_json(sys.argv[1])
with Watching(asked, RecordingReporter()) as watching:
    before = set(sys.modules)
    print(len(list(watching.hits())), *sorted(set(sys.modules) - before), sep="\\n")
"""


@pytest.mark.slow
def test_what_judging_needs_is_loaded_before_the_stream_runs(footage, words):
    """Else the first window holds up a camera for seconds, and memory grows by all of it."""
    asked = request(footage, words, seconds=2.5).model_dump_json()
    command = [sys.executable, "-c", LOADED, asked]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    late = done.stdout.splitlines()[1:]
    assert not [name for name in late if name.split(".")[0] in ("numba", "scipy", "llvmlite")]


def test_a_detector_without_names_can_watch(footage, words):
    assert watch(request(footage, words, detector="regions", seconds=0.3)).frames == 4


@pytest.mark.slow
def test_each_frame_can_be_shown_and_a_watch_ends_when_asked(footage, words):
    shown = []
    asked = request(footage, words, seconds=1.0)
    with Watching(asked, RecordingReporter(), lambda frame, seen: shown.append(seen)) as watching:
        list(watching.hits())
        assert watching.num_frames == len(shown) and 7 <= len(shown) <= 10


RULES = """4: speed(X) >= 15 -> moves(X)
2: moves(X) -> false
"""
VOCABULARY = """predicate moves(thing)
"""
EVENTS = """START(x) = [not moves(x)] ; [moves(x)]
"""


@pytest.mark.slow
def test_facts_and_events_are_watched_for_by_rules(footage, words, tmp_path):
    """Beside a sentence, and without any words."""
    rules = {"rules": RULES, "vocabulary": VOCABULARY, "events": EVENTS}
    result = watch(request(footage, words, "moves(person)", "START", PICKED, **rules))
    assert {hit.text for hit in result.hits} == {"moves(person)", "START", PICKED}
    moves = [hit for hit in result.hits if hit.text == "moves(person)"]
    first = moves[0]
    assert first.evidence[0][0].startswith("moves(person") and 0.5 < first.probability <= 1
    assert first.delay >= 0 and first.end > first.start
    alone = watch(request(footage, tmp_path / "no-words", "moves(person)", **rules))
    assert [hit.start for hit in alone.hits] == [hit.start for hit in moves]


def test_rules_that_do_not_fit_a_watch_are_refused(footage, words, tmp_path):
    known = {"vocabulary": VOCABULARY, "events": EVENTS}
    for text, rules, said in (
        ("moves(person,chair)", RULES, "has 1 arguments"),
        ("STOP", RULES, "know START, moves"),
        ("moves", "2: dash_next(X) >= 9 -> moves(X)\n1: moves(X) -> false\n", "later moments"),
        ("moves", str(tmp_path / "no.rules"), "no file"),
    ):
        with pytest.raises(WordsightError, match=said):
            watch(request(footage, words, text, rules=rules, **known))
    with pytest.raises(WordsightError, match="--vocabulary"):
        watch(request(footage, words, "moves", rules=str(tmp_path / "no.rules")))


def test_what_cannot_be_watched_for_is_refused_before_it_begins(words, tmp_path):
    for sentence in ("The unicorn sang.", "Did the person carry the chair?", ""):
        with pytest.raises(WordsightError):
            Watching(request("0", words, sentence), RecordingReporter())
    with pytest.raises(WordsightError, match="no learned lexicon"):
        watch(request("0", tmp_path / "none"))
    with pytest.raises(WordsightError, match="no file or folder"):
        watch(request(tmp_path / "none.ts", words))
    with pytest.raises(WordsightError, match="address such as"):
        watch(request("0", words, webhook="ftp://host"))
    with pytest.raises(WordsightError, match="no program"):
        watch(request("0", words, on_hit="/no/such/program"))
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(WordsightError, match="no film can be written into"):
        watch(request("0", words, clips=tmp_path / "file"))
    for broker in ("host", "mqtt://ann:secret@host:x/topic", "mqtt://[host"):
        with pytest.raises(WordsightError, match="mqtt://") as refused:
            watch(request("0", words, mqtt=broker))
        assert "secret" not in str(refused.value)


@pytest.mark.slow
def test_what_comes_while_channels_finish_is_not_dropped(footage, words, free_port, monkeypatch):
    """A hook that hangs takes seconds to end; the detector is not slow because of it."""
    command = [sys.executable, str(SERVER), str(free_port), str(footage), "--fast"]
    server = subprocess.Popen(command)
    counts = []
    asked = request(f"http://127.0.0.1:{free_port}/film", words, seconds=0.5, give_up=30.0)

    def end_slowly(channels):
        counts.append(watching.source.num_dropped)
        time.sleep(1.0)
        counts.append(watching.source.num_dropped)

    monkeypatch.setattr(HitChannels, "close", end_slowly)
    try:
        with Watching(asked, RecordingReporter()) as watching:
            list(watching.hits())
    finally:
        server.kill()
        server.wait()
    assert watching.num_frames and counts[0] == counts[1]


def test_a_source_without_one_frame_is_an_error_that_says_why(words):
    with pytest.raises(WordsightError, match="refused"):
        watch(request("http://127.0.0.1:9/film", words, give_up=0.4))


def test_a_webhook_that_hangs_costs_hits_and_no_time(monkeypatch):
    monkeypatch.setattr("wordsight.workflows.hit_channels._WEB_SECONDS", 0.3)
    monkeypatch.setattr("wordsight.workflows.hit_channels._CLOSING_SECONDS", 0.5)
    hook, warnings = Hook(hangs=True), []
    begun = time.monotonic()
    with web_channel(hook.address, warnings.append) as channel:
        for _ in range(80):
            channel.put(HIT)
        assert time.monotonic() - begun < 0.5
        assert any("too slow" in text for text in warnings)
        assert until(lambda: any("failed: " in text for text in warnings))
    assert time.monotonic() - begun < 5


def test_a_webhook_may_ask_for_a_password():
    hook, warnings = Hook(), []
    address = hook.address.replace("://", "://ann:a%20secret@")
    with web_channel(address, warnings.append) as channel:
        channel.put(HIT)
        assert until(lambda: hook.got)
    assert hook.asked == ["Basic " + b64encode(b"ann:a secret").decode()] and warnings == []


def test_no_two_things_share_a_topic():
    sources = ("rtsp://ann:pw@nvr:554/1", "rtsp://nvr:554/2", "rtsp://nvr/cam?channel=1")
    sources += ("rtsp://nvr/cam?channel=2", "0", "/films/one.ts")
    said = (PICKED, "attached(hand,_)", "attached(_,hand)", "人が歩いた。", "犬が走った。")
    for texts in (sources, (*said, "a " * 60, "a " * 61)):
        made = [topic_of(text) for text in texts]
        assert len(set(made)) == len(made) and all(re.fullmatch(r"[a-z0-9_]+", m) for m in made)
        assert not any("ann" in m or "pw" in m for m in made)
    assert topic_of(PICKED) == "the_person_picked_up_the_backpack"


def test_commands_and_channels_that_fail_are_warnings(tmp_path):
    warnings = []
    with command_channel(f"{sys.executable} -c 'raise SystemExit(3)'", warnings.append) as one:
        one.put(HIT)
    assert warnings == [f"the command {sys.executable} failed: exit 3"]

    def broken(hit):
        raise RuntimeError("broken")

    with HitChannel("a thing", broken, warnings.append) as channel:
        channel.put(HIT)
    assert warnings[-1] == "a thing failed: broken"
    for text in (PICKED, CARRIED):  # two watches, one after the other
        with HitChannels(tmp_path / "hits.jsonl", None, ()) as channels:
            channels.put(replace(HIT, text=text))
    lines = (tmp_path / "hits.jsonl").read_text().splitlines()
    assert [json.loads(line)["text"] for line in lines] == [PICKED, CARRIED]
    with pytest.raises(WordsightError, match="cannot be written"):
        HitChannels(None, Path("/proc/none/hits.srt"), ())


@pytest.fixture
def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@pytest.fixture
def broker(free_port):
    """A real broker on loopback."""
    pytest.importorskip("amqtt", reason="the tests' MQTT broker amqtt is not installed")
    from amqtt.broker import Broker

    port = free_port
    loop, ready = asyncio.new_event_loop(), threading.Event()
    settings = {
        "listeners": {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}},
        "plugins": {"amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": True}},
    }
    running = []

    async def start():
        running.append(Broker(settings))
        await running[0].start()
        ready.set()

    def work():
        asyncio.set_event_loop(loop)
        loop.run_until_complete(start())
        loop.run_forever()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(15)
    yield port
    asyncio.run_coroutine_threadsafe(running[0].shutdown(), loop).result(15)
    loop.call_soon_threadsafe(loop.stop)
    thread.join(5)


@pytest.mark.slow
def test_hits_are_published_and_announced_as_home_assistant_reads_it(broker):
    client_module = pytest.importorskip("paho.mqtt.client")
    from paho.mqtt.enums import CallbackAPIVersion

    got = {}
    reader = client_module.Client(CallbackAPIVersion.VERSION2)
    reader.on_message = lambda _, __, message: got.update({message.topic: message.payload})
    reader.connect("127.0.0.1", broker)
    reader.subscribe("#", qos=1)
    reader.loop_start()
    warnings = []
    address = f"mqtt://127.0.0.1:{broker}/home"
    with MqttChannel(address, "rtsp://ann:pw@door/1", [PICKED], warnings.append) as channel:
        assert until(lambda: got.get("home/door_1/status") == b"online")
        channel.put(HIT)
        topic = "home/door_1/the_person_picked_up_the_backpack"
        assert until(lambda: f"{topic}/state" in got)
    assert until(lambda: got["home/door_1/status"] == b"offline")
    reader.loop_stop()
    reader.disconnect()
    name = "wordsight_door_1_the_person_picked_up_the_backpack"
    known = json.loads(got[f"homeassistant/binary_sensor/{name}/config"])
    assert known["state_topic"] == f"{topic}/state" and got[f"{topic}/state"] == b"ON"
    assert known["unique_id"] == name and known["availability_topic"] == "home/door_1/status"
    assert known["device"]["identifiers"] and known["off_delay"] > 0
    assert json.loads(got[known["json_attributes_topic"]]) == HIT.to_json()
    assert warnings == []


def test_a_broker_that_does_not_answer_is_a_warning():
    pytest.importorskip("paho.mqtt.client")
    warnings = []
    with MqttChannel("mqtt://127.0.0.1:9", "0", [PICKED], warnings.append) as channel:
        channel.put(HIT)
        assert until(lambda: warnings)
    assert "does not answer" in warnings[0]
