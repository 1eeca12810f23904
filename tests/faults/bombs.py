"""Small files that claim to be enormous, by name: what they are read with, and their bytes."""

import io
import json
import struct
import wave
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

__all__ = ["BOMBS", "read_bomb"]

_HUGE = 10**11
_HEADER = {"kind": "Detections", "version": 1, "values": {}}


def _archive(members: dict[str, bytes], name: str = "record.json") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, content in {name: json.dumps(_HEADER).encode(), **members}.items():
            archive.writestr(member, content)
    return buffer.getvalue()


def _array_header(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    described = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, described)
    return buffer.getvalue() + b"\0" * 64


def _claims_size() -> bytes:
    """An archive whose directory says that a member unpacks to four gigabytes and more."""
    data = bytearray(_archive({"boxes.npy": _array_header((2,)), "times.npy": _array_header((2,))}))
    at = -1
    while (at := data.find(b"PK\x01\x02", at + 1)) >= 0:
        data[at + 24 : at + 28] = struct.pack("<I", 0xFFFFFFF0)
    return bytes(data)


def _really_large() -> bytes:
    """An archive of a few megabytes that truly unpacks to more than four gigabytes of zeros."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b"\0" * (1 << 20)
    once = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    count = 4200
    raw = once + (zlib_block := _one_more(block)) * (count - 1) + _end()
    assert zlib_block
    return _archive_of(raw, count << 20)


def _one_more(block: bytes) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)


def _end() -> bytes:
    return zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def _archive_of(raw: bytes, size: int) -> bytes:
    """A zip archive of one member whose compressed bytes are given; sizes as 64-bit numbers."""
    name = b"boxes.npy"
    extra = struct.pack("<HHQQ", 1, 16, size, len(raw))
    common = struct.pack(
        "<HHHHHIIIHH", 45, 0, 8, 0, 33, 0, *(0xFFFFFFFF,) * 2, len(name), len(extra)
    )
    local = b"PK\x03\x04" + common + name + extra + raw
    entry = b"PK\x01\x02" + struct.pack("<H", 45) + common
    entry += struct.pack("<HHHII", 0, 0, 0, 0, 0) + name + extra
    end = struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def _picture(side: int) -> bytes:
    """A picture file of a few bytes that says it is ``side`` pixels wide and high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        mark = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + mark

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 1000)
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def _sound() -> bytes:
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setparams((2, 4, 192000, 0, "NONE", ""))
        sound.writeframes(b"\0" * 64)
    data = bytearray(buffer.getvalue())
    data[40:44] = struct.pack("<I", 0xFFFFFF00)  # says the samples take four gigabytes
    return bytes(data)


BOMBS: dict[str, tuple[str, Callable[[], bytes]]] = {
    "an archive that says it is huge": ("a.npz", _claims_size),
    "an archive that is huge": ("a.npz", _really_large),
    "an array that says it is huge": (
        "a.npz",
        lambda: _archive({"boxes.npy": _array_header((_HUGE,))}),
    ),
    "an array of many dimensions": (
        "a.npz",
        lambda: _archive({"boxes.npy": _array_header((1 << 20, 1 << 20, 1 << 20))}),
    ),
    "a picture that says it is huge": ("a.png", lambda: _picture(60_000)),
    "a picture of 20,000 by 20,000": ("b.png", lambda: _picture(20_000)),
    "a sound that says it is huge": ("a.wav", _sound),
    "numbers without end": ("a.jsonl", lambda: b'{"start": ' + b"9" * 400_000 + b"}"),
    "brackets without end": ("a.jsonl", lambda: b"[" * 2_000_000),
    "a line without end": ("a.srt", lambda: b"1\n00:00:01,000 --> " + b"0" * 5_000_000),
    "rules without end": ("r.txt", lambda: b"1: " + b"attached(X,Y), " * 20_000 + b"-> false"),
}
"""By what they are: the name of the file, and what makes its content."""


def read_bomb(path: Path) -> object:
    """Read a file with the reader of its kind."""
    if path.suffix == ".npz":
        from wordsight.records import Detections

        return Detections.load(path)
    if path.suffix == ".png":
        from wordsight.video import read_image

        return read_image(path)
    if path.suffix == ".wav":
        from wordsight.attributes import read_sound

        return read_sound(path)
    if path.name == "r.txt":
        from wordsight.states import parse_rules

        return parse_rules(path.read_text(encoding="utf-8"))
    from wordsight.language.captions import read_captions

    return read_captions(path)
