"""A small good file for every reader, to be damaged, and the function that reads it."""

import wave
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from wordsight.alignment.models import HMM1
from wordsight.alignment.observe import IntervalFile
from wordsight.alignment.records import Chunk, Instructions, Line, Observed
from wordsight.alignment.storage import load_aligner
from wordsight.alignment.text import read_instructions
from wordsight.attributes import AttributeLearner, read_sound
from wordsight.attributes.lesson_files import find_lessons
from wordsight.language import default_lexicon, parse, read_lexicon
from wordsight.language.captions import read_captions
from wordsight.library.ingest.sources import read_metadata
from wordsight.meaning import LearnedLexicon
from wordsight.meaning.model.hand import hand_lexicon
from wordsight.perception.detectors.onnx import read_labels
from wordsight.perception.formats import read_boxes
from wordsight.perception.regions.codebook import Codebook
from wordsight.records import Clip, Detections, FrameDetections
from wordsight.retrieval.trec import read_qrels, read_run
from wordsight.states import parse_rules, parse_vocabulary
from wordsight.states.events.definitions import parse_events
from wordsight.states.labels import read_intervals
from wordsight.video import VideoReader, read_image
from wordsight.worlds import street

__all__ = ["Reader", "readers"]


@dataclass(frozen=True)
class Reader:
    """Something that reads files people bring.

    Attributes:
        name: Name of the file, or of the file in a folder that is damaged.
        read: Reads it; gets the path of the file, or of the folder.
        content: The good file.
        folder: Further files that lie beside it when ``read`` takes the folder.
    """

    name: str
    read: Callable[[Path], object]
    content: bytes
    folder: dict[str, bytes] | None = None


def readers(scratch: Path) -> dict[str, Reader]:
    """Return all readers with their good files, made in a scratch folder."""
    found = {name: Reader(*row) for name, row in _texts().items()}
    found |= {name: Reader(*row) for name, row in _binaries(scratch).items()}
    for name, folder, load in _models(scratch):
        files = {p.name: p.read_bytes() for p in folder.iterdir()}
        for file in files:
            if file != "card.md":
                found[f"{name} {file}"] = Reader(file, load, files[file], files)
    return found


def _texts() -> dict[str, tuple[str, Callable[[Path], object], bytes]]:
    def text_of(function: Callable[[str], object]) -> Callable[[Path], object]:
        return lambda path: function(path.read_text(encoding="utf-8", errors="replace"))

    rules = b"3.2: distance(X,Y) <= 12, speed(Y) >= 4 -> attached(X,Y)\n1: attached(X,Y) -> false\n"
    words = b"predicate attached(hand, thing)\nfeature calm(thing) = mean of speed over 1 s\n"
    events = b"PICKUP(x,y,z) = [contacts(z,y), not attached(x,y)] ; [attached(x,y)]\n"
    boxes = b"frame,time,id,label,score,x1,y1,x2,y2\n0,0.5,3,cup,0.9,1,2,3,4\n1,1,,,,,,,\n"
    subtitles = b"1\n00:00:01,000 --> 00:00:02,500\nThe person left.\n\n"
    grammar = b"chair : noun\npicked-up : verb : picked up\n"
    return {
        "srt": ("a.srt", read_captions, subtitles),
        "vtt": ("a.vtt", read_captions, b"WEBVTT\n\n00:01.000 --> 00:02.000\nHello.\n"),
        "captions jsonl": ("a.jsonl", read_captions, b'{"start": 1, "end": 2, "text": "a"}\n'),
        "mot": ("det.txt", read_boxes_at_ten, b"1,-1,5,5,10,20,0.5,-1,-1,-1\n"),
        "boxes csv": ("boxes.csv", read_boxes_at_ten, boxes),
        "states csv": ("s.csv", read_intervals, b'video,start,end,fact\na,0,1,"attached(h,b)"\n'),
        "rules": ("r.txt", text_of(parse_rules), rules),
        "vocabulary": ("v.txt", text_of(parse_vocabulary), words),
        "events": ("e.txt", text_of(parse_events), events),
        "sentence": ("t.txt", text_of(_parse), b"The person picked up the backpack quickly."),
        "grammar": ("g.txt", read_lexicon, grammar),
        "instructions": ("i.md", read_instructions, b"1. Fill 10 mL of water.\n2. Stir it.\n"),
        "intervals": ("seen.txt", lambda p: IntervalFile(p).observe(), b"0 2.5 beaker hand\n"),
        "run": ("a.run", read_run, b"q1 Q0 d1 1 2.5 tag\n"),
        "qrels": ("a.qrels", read_qrels, b"q1 0 d1 1\n"),
        "metadata": (
            "metadata.jsonl",
            lambda p: list(read_metadata(p)),
            b'{"file_name": "a.mp4", "text": "The person left."}\n',
        ),
        "labels": ("labels.json", read_labels, b'{"names": {"0": "cup", "1": "hand"}}'),
        "lessons": ("pairs.jsonl", find_lessons, b'{"image": "a.png", "word": "red"}\n'),
    }


def _parse(text: str) -> object:
    return parse(text, default_lexicon())


def read_boxes_at_ten(path: Path) -> object:
    """Read boxes of a video with ten frames a second."""
    return read_boxes(path, frame_rate=10)


def _binaries(scratch: Path) -> dict[str, tuple[str, Callable[[Path], object], bytes]]:
    rng = np.random.default_rng(0)
    picture = rng.integers(0, 255, (24, 32, 3), dtype=np.uint8)
    film = next(iter(street(1, 0, noise=0.0, frame_rate=5.0)))
    film.write(scratch / "film.mp4")
    with wave.open(str(scratch / "a.wav"), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8000)
        sound.writeframes((3000 * rng.standard_normal(4000)).astype("<i2").tobytes())
    frames = [
        FrameDetections(t / 10, np.array([[1.0, 2, 8, 9]]), np.ones(1), np.zeros(1, np.int32))
        for t in range(5)
    ]
    seen = Detections.from_frames(frames, label_names=("cup",), frame_size=(32, 24))
    Clip("v", 0.0, 1.0, seen).save(scratch / "clip.npz")
    seen.save(scratch / "seen.npz")
    Codebook(words=2).fit(rng.random((20, 4)).astype(np.float32)).save(scratch / "book.npz")
    made = {
        "mp4": ("film.mp4", _watch),
        "wav": ("a.wav", read_sound),
        "clip": ("clip.npz", Clip.load),
        "detections": ("seen.npz", Detections.load),
        "codebook": ("book.npz", Codebook.load),
    }
    found = {
        name: (file, read, (scratch / file).read_bytes()) for name, (file, read) in made.items()
    }
    for ending in ("png", "jpg"):
        data = cv2.imencode(f".{ending}", picture)[1].tobytes()
        found[ending] = (f"a.{ending}", read_image, data)
    return found


def _watch(path: Path) -> object:
    with VideoReader(path) as video:
        return [frame.image.shape for frame in video.frames()]


def _models(scratch: Path) -> list[tuple[str, Path, Callable[[Path], object]]]:
    hand_lexicon(["person", "backpack", "chair", "trash-can"]).save(scratch / "lexicon")
    lines = (Line("Fill the cup.", 1, ("cup",), ("fill",)), Line("Stir.", 2, ("spoon",), ("stir",)))
    chunks = (Chunk(0.0, 1.0, frozenset({"cup"})), Chunk(1.0, 2.0, frozenset({"spoon"})))
    HMM1().fit([(Instructions("a", lines), Observed("v", chunks, 2.0))]).save(scratch / "aligner")
    rng = np.random.default_rng(0)
    pictures = [
        np.full((16, 16, 3), colour, np.uint8) + rng.integers(0, 9, (16, 16, 3), dtype=np.uint8)
        for colour in ((200, 0, 0), (0, 200, 0)) * 6
    ]
    AttributeLearner(num_attributes=1).fit(pictures, ["red", "green"] * 6).save(scratch / "taught")
    return [
        ("lexicon", scratch / "lexicon", LearnedLexicon.load),
        ("aligner", scratch / "aligner", load_aligner),
        ("taught", scratch / "taught", AttributeLearner.load),
    ]
