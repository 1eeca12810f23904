"""Whatever a file is like, it is read, or refused with an error of ours: no crash, no hang."""

import resource
import time
import warnings

import numpy as np
import pytest

from tests.fuzz.samples import readers
from wordsight.errors import WordsightError

NAMES = """srt, vtt, captions jsonl, mot, boxes csv, states csv, rules, vocabulary, events,
sentence, grammar, instructions, intervals, run, qrels, metadata, labels, lessons, mp4, wav, clip,
detections, codebook, png, jpg, lexicon model.json, lexicon arrays.npz, aligner model.json, aligner
arrays.npz, taught model.json, taught arrays.npz""".replace("\n", " ").split(", ")
TRIES = {"mp4": 15, "sentence": 40}  # others get more: they take no time
MOST_SECONDS = 10.0
MOST_GROWTH = 600 << 20  # bytes of memory that damage may cost at most


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    return readers(tmp_path_factory.mktemp("good"))


def test_every_reader_is_known(known):
    assert set(NAMES) <= set(known)


@pytest.mark.parametrize("name", NAMES)
def test_good_files_are_read(name, known, tmp_path):
    read(known[name], known[name].content, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(name, known, tmp_path):
    rng = np.random.default_rng(sum(map(ord, name)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(TRIES.get(name, 60)):
        attempt(known[name], damaged(known[name].content, rng), tmp_path)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < MOST_GROWTH


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "content",
    [b"", b"\0" * 1000, b"\xff\xfe" + b"a\0" * 50, b"\n" * 500, b"{" * 3000, b"[1]", b"-" * 5000],
    ids=["empty", "zeros", "utf-16", "blank lines", "deep", "json", "dashes"],
)
def test_odd_files_are_read_or_refused(name, content, known, tmp_path):
    attempt(known[name], content, tmp_path)


def attempt(reader, content, folder):
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # damage may be told of without being refused
            read(reader, content, folder)
    except WordsightError as error:
        assert len(str(error)) > 10
    assert time.process_time() - start < MOST_SECONDS


def read(reader, content, folder):
    if reader.folder is None:
        path = folder / reader.name
        path.write_bytes(content)
        return reader.read(path)
    for name, whole in reader.folder.items():
        (folder / name).write_bytes(content if name == reader.name else whole)
    return reader.read(folder)


def damaged(content, rng):
    """Change bytes, cut, double, and put odd things in."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(0, len(data) + 1))
        size = int(rng.integers(1, 12))
        kind = int(rng.integers(0, 6))
        if kind == 0 and data:
            data[min(at, len(data) - 1)] ^= 1 << int(rng.integers(0, 8))
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = data[max(0, at - size) : at] * int(rng.integers(1, 40))
        elif kind == 3:
            data[at : at + size] = rng.integers(0, 256, size, dtype=np.uint8).tobytes()
        elif kind == 4:
            odd = (b"nan", b"1e999", b"-1", b"null", b"\xc3\x28", b'"', b"99999999999999999999")
            data[at : at + size] = odd[int(rng.integers(len(odd)))]
        else:
            del data[at : at + size]
    return bytes(data)
