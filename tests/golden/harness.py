"""How results are written down, masked and compared with the golden files beside this one.

Only the outside doors are used (the command line and HTTP), so that nothing here has to follow when
modules move. A golden file holds what commands answered with ``--json``, what the studio answered,
and what is in the files they saved. Paths, times of day, ids made of the bytes of a video and texts
written for people are masked; long lists are summarised; floats are compared with a relative
tolerance of 1e-6, since other processors round differently, and everything else exactly. Hashes of
saved files are compared only on the machine and with the packages they were made with: elsewhere
the contents decide.
"""

import hashlib
import io
import json
import math
import platform
import re
import runpy
import sys
import zipfile
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import zip_longest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import av
import numpy as np

HERE = Path(__file__).parent
RELATIVE, ABSOLUTE = 1e-6, 1e-9

_LONG = 24  # items of a list that are written down one by one
_HEAD = 4  # items of a longer list that are
_TEXT_LINES = 60  # lines of a text file that are
_AN_EPOCH = 1.6e9  # numbers from here on are seconds since 1970
_TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(\+00:00|Z)?")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_MASKS = [
    (_TIME, "<time>"),
    (re.compile(r"\b[0-9a-f]{64}\b"), "<sha256>"),
    (re.compile(r"(?<=-)[0-9a-f]{12}(?=\.(npz|jpg)\b)"), "<hash>"),
    (re.compile(r"\b([0-9a-f]{12}|[0-9a-f]{16})\b"), "<name>"),
    (re.compile(r"\b(segment-\d+)-[0-9a-f]{8}\b"), r"\1"),
    (re.compile(r"\b[A-Z]\w+\(\w+=[^\"]*\)"), "<settings>"),  # a record as Python prints it
]
_FOR_PEOPLE = {"message", "messages", "note", "notes", "title", "why", "warning", "detail", "page"}
_OF_THE_DAY = {"created", "changed", "added_at", "created_at", "size", "stamp"}
_TEXT_ENDINGS = {".csv", ".tsv", ".txt", ".srt", ".vtt", ".xml", ".rules", ".run", ".trec"}
_ONLY_THERE = {".png", ".svg", ".pdf", ".jpg", ".mp4", ".md", ".sqlite"}


@dataclass(frozen=True)
class Answer:
    """What a call of the program left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON value on standard output."""
        return json.loads(self.out)


def wordsight(folder: Path, *arguments: object) -> Answer:
    """Run ``python -m wordsight`` in a folder, in this process."""
    out, err, before = io.StringIO(), io.StringIO(), sys.argv
    sys.argv = ["wordsight", *map(str, arguments)]
    code = 0
    try:
        with chdir(folder), redirect_stdout(out), redirect_stderr(err):
            runpy.run_module("wordsight", run_name="__main__")
    except SystemExit as ended:
        code = int(ended.code or 0)
    finally:
        sys.argv = before
    return Answer(code, out.getvalue(), err.getvalue())


def fingerprint() -> dict[str, str]:
    """Return what the bytes of results may depend on besides this project."""
    told = [platform.machine()]
    cpu = Path("/proc/cpuinfo")
    if cpu.exists():
        lines = cpu.read_text(encoding="utf-8", errors="replace").splitlines()
        told += sorted({line for line in lines if line.startswith(("model name", "flags"))})
    packages = ("numpy", "scipy", "numba", "av", "opencv-python-headless", "pymunk")
    return {
        "processor": hashlib.sha256("\n".join(told).encode()).hexdigest()[:16],
        "python": ".".join(platform.python_version_tuple()[:2]),
    } | {name: version(name) for name in packages}


@dataclass
class Book:
    """Gathers results under names and compares them with a golden file.

    Args:
        name: Of the golden file.
        roots: Folders that are masked in paths; commands are run in the first.
        update: Whether the golden file is written instead.
        ids: Ids of videos by what they are masked with.
    """

    name: str
    roots: tuple[Path, ...]
    update: bool = False
    ids: dict[str, str] = field(default_factory=dict)
    found: dict[str, Any] = field(default_factory=dict)

    def __enter__(self) -> "Book":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._check()

    def run(self, name: str, *arguments: object, code: int = 0) -> Any:
        """Run a command with ``--json``, keep its answer, and return it as it came."""
        answer = wordsight(self.roots[0], *arguments, "--json")
        assert answer.code == code, f"{arguments}: exit {answer.code}\n{answer.out}\n{answer.err}"
        value = answer.json
        self.keep(name, value)
        return value

    def keep(self, name: str, value: Any, *, brief: bool = False) -> None:
        """Keep a JSON value, or only a digest of it and sums of its numbers."""
        assert name not in self.found, name
        self.found[name] = self._column([value], "") if brief else self.masked(value)

    def file(self, name: str, path: Path) -> None:
        """Keep the contents of a file."""
        self.keep_bytes(name, path.name, path.read_bytes())

    def folder(self, name: str, path: Path, *, brief: bool = False) -> None:
        """Keep the contents of all files in a folder, or only digests and sums of them."""
        paths = sorted(one for one in path.rglob("*") if one.is_file())
        self.found[name] = {
            self._text(one.relative_to(path).as_posix()): self._contents(one.name, one.read_bytes())
            for one in paths
        }
        if brief:
            for file, contents in self.found[name].items():
                told = {"sha256": contents.pop("sha256")} if "sha256" in contents else {}
                self.found[name][file] = told | self._column([contents], "")

    def film(self, name: str, path: Path) -> None:
        """Keep a film that was rendered: its bytes, and means over parts of some pictures."""
        with av.open(str(path)) as container:
            images = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        shown = np.stack([images[number] for number in (0, len(images) // 2, -1)])
        height, width = shown.shape[1] // 8, shown.shape[2] // 8
        parts = shown[:, : 8 * height, : 8 * width].reshape(3, 8, height, 8, width, 3)
        self.found[name] = {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "frames": len(images),
            "pictures": summary(parts.mean(axis=(2, 4))),
        }

    def keep_bytes(self, name: str, file: str, data: bytes) -> None:
        """Keep the contents of a file that was sent."""
        assert name not in self.found, name
        self.found[name] = self._contents(file, data)

    def masked(self, value: Any, key: str = "") -> Any:
        """Return a value without what differs from run to run, long lists summarised."""
        if key in _OF_THE_DAY and value is not None:
            return f"<{key}>"
        if key in _FOR_PEOPLE and value:
            return "<text>"
        if isinstance(value, dict):
            return {
                self._text(str(name)): self.masked(item, str(name)) for name, item in value.items()
            }
        if isinstance(value, list):
            return self._list(value)
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float):
            return float(f"{value:.10g}") if value < _AN_EPOCH else "<time>"
        return value

    def _text(self, text: str) -> str:
        for root in self.roots:
            text = text.replace(str(root), "<root>")
        for number, name in self.ids.items():
            text = text.replace(number, name)
        for pattern, mask in _MASKS:
            text = pattern.sub(mask, text)
        return text

    def _list(self, value: list[Any]) -> Any:
        if (array := _numeric(value)) is not None:
            return summary(array) if array.size > _LONG else array_list(array)
        items = [self.masked(item) for item in value]
        if len(items) <= _LONG:
            return items
        told: dict[str, Any] = {"length": len(items), "head": items[:_HEAD]}
        if all(isinstance(item, dict) for item in value):
            names = sorted({name for item in value for name in item})
            told["columns"] = {
                name: self._column([item.get(name) for item in value], name) for name in names
            }
        else:
            told["all"] = self._column(value, "")
        return told

    def _column(self, values: list[Any], key: str) -> Any:
        array = _numeric(values)
        if array is not None:
            return summary(array)
        flat: list[float] = []
        rest = _numbers_out([self._whole(value, key) for value in values], flat)
        told: dict[str, Any] = {"digest": _digest(rest)[:16]}
        return told | ({"numbers": summary(np.array(flat))} if flat else {})

    def _whole(self, value: Any, key: str) -> Any:
        """Return a value masked, but not summarised."""
        if isinstance(value, list):
            return [self._whole(item, "") for item in value]
        if isinstance(value, dict):
            return {self._text(str(k)): self._whole(item, str(k)) for k, item in value.items()}
        return self.masked(value, key)

    def _contents(self, file: str, data: bytes) -> dict[str, Any]:
        ending = Path(file).suffix.lower()
        if ending in _ONLY_THERE:
            return {"empty": not data}
        if ending == ".npz":
            return {"sha256": hashlib.sha256(data).hexdigest(), **self._arrays(data)}
        if ending == ".npy":
            told = _array(np.load(io.BytesIO(data)))
            return {"sha256": hashlib.sha256(data).hexdigest(), "array": told}
        if ending == ".zip":
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                names = sorted(packed.namelist())
                return {name: self._contents(name, packed.read(name)) for name in names}
        if ending in (".json", ".jsonl"):
            text = data.decode()
            rows = [json.loads(line) for line in text.splitlines()] if ending == ".jsonl" else None
            value = json.loads(text) if rows is None else rows
            return {"sha256": _digest(self._text(text)), "json": self.masked(value)}
        if ending == ".eaf":
            return {"tiers": self.masked(_tiers(data))}
        if ending in _TEXT_ENDINGS:
            lines = [self._text(line) for line in data.decode().splitlines()]
            return {"lines": lines if len(lines) <= _TEXT_LINES else self._lines(lines)}
        return {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data)}

    def _lines(self, lines: list[str]) -> dict[str, Any]:
        flat: list[float] = []
        rest = _numbers_out(lines, flat)
        return {
            "length": len(lines),
            "head": lines[:_HEAD],
            "digest": _digest(rest)[:16],
            "numbers": summary(np.array(flat)),
        }

    def _arrays(self, data: bytes) -> dict[str, Any]:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            arrays, others = {}, {}
            for name in sorted(packed.namelist()):
                if name.endswith(".npy"):
                    arrays[name.removesuffix(".npy")] = _array(
                        np.load(io.BytesIO(packed.read(name)))
                    )
                else:
                    others[name] = self._contents(name, packed.read(name))
        if len(arrays) > _LONG:  # a model of many small tables: one line for each
            told = {name: [one["dtype"], *_line(one)] for name, one in arrays.items()}
            return {"arrays": told, **others}
        return {"arrays": arrays, **others}

    def _check(self) -> None:
        path = HERE / f"{self.name}.json"
        found = json.loads(json.dumps(self.found, allow_nan=False))
        if self.update:
            text = _compact(found)
            assert len(text) < 100_000, f"{path.name}: {len(text)} bytes are too many for a golden"
            path.write_text(text, encoding="utf-8")
            (HERE / "platform.json").write_text(
                json.dumps(fingerprint(), indent=1) + "\n", encoding="utf-8"
            )
            return
        assert path.exists(), f"{path} is missing: make it with pytest tests/golden --update-golden"
        known = json.loads((HERE / "platform.json").read_text(encoding="utf-8"))
        hashes = known == fingerprint()
        golden = json.loads(path.read_text(encoding="utf-8"))
        differences = list(compared(golden, found, self.name, hashes=hashes))
        assert not differences, "\n".join(
            [f"{len(differences)} results differ from {path.name}:", *differences[:25]]
        )


def summary(array: np.ndarray) -> dict[str, Any]:
    """Return the shape of an array, its first numbers, and sums that notice any change."""
    flat = np.nan_to_num(array.astype(np.float64).ravel(), nan=-1.5, posinf=1e9, neginf=-1e9)
    waves = np.cos(np.arange(flat.size) * 0.7390851332)  # so that an exchange of two is noticed
    return {
        "shape": list(array.shape),
        "head": array_list(flat[:_HEAD]),
        "sums": [_short(flat.sum()), _short(np.abs(flat).sum()), _short(flat @ waves)],
    }


def array_list(array: np.ndarray) -> Any:
    """Return the numbers of an array as JSON holds them."""
    if array.ndim == 0:
        value = array.item()
        return _short(value) if isinstance(value, float) else value
    return [array_list(row) for row in array]


def compared(golden: Any, found: Any, where: str, *, hashes: bool) -> Any:
    """Yield what differs, a line each."""
    if isinstance(golden, dict) and isinstance(found, dict):
        if "sums" in golden and "sums" in found and golden["shape"] == found["shape"]:
            # A sum may be small where its terms are large.
            scale = max(abs(golden["sums"][1]), ABSOLUTE)
            pairs = zip(golden["sums"], found["sums"], strict=True)
            if any(abs(a - b) > RELATIVE * scale + ABSOLUTE for a, b in pairs):
                yield f"  {where}: {golden} -> {found}"
            return
        for name in golden.keys() | found.keys():
            place = f"{where}/{name}"
            if name not in found:
                yield f"  {place}: gone, was {_brief(golden[name])}"
            elif name not in golden:
                yield f"  {place}: new, {_brief(found[name])}"
            elif name != "sha256" or hashes:
                yield from compared(golden[name], found[name], place, hashes=hashes)
    elif isinstance(golden, list) and isinstance(found, list):
        if len(golden) != len(found):
            yield f"  {where}: {len(golden)} items -> {len(found)} items"
        for number, (a, b) in enumerate(zip_longest(golden, found)):
            yield from compared(a, b, f"{where}/{number}", hashes=hashes)
    elif not _same(golden, found):
        yield f"  {where}: {_brief(golden)} -> {_brief(found)}"


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, bool) or isinstance(b, bool) or type(a) is type(b) is int:
        return a is b or (type(a) is type(b) and a == b)
    if isinstance(a, int | float) and isinstance(b, int | float):
        return _near(a, b)
    if isinstance(a, str) and isinstance(b, str) and a != b:
        numbers = list(zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=False))
        alike = _NUMBER.sub("#", a) == _NUMBER.sub("#", b)
        return alike and all(_near_text(*pair) for pair in numbers)
    return bool(a == b)


def _near_text(a: str, b: str) -> bool:
    # Whole numbers are counts, or names such as those of frames; of them there is no nearly.
    return a == b or ("." in a + b and _near(float(a), float(b)))


def _near(a: float, b: float) -> bool:
    return abs(a - b) <= RELATIVE * max(abs(a), abs(b)) + ABSOLUTE


def _numeric(value: list[Any]) -> np.ndarray | None:
    """Return nested lists of numbers as an array, if that is what they are."""
    flat: list[Any] = value
    while flat and isinstance(flat[0], list):
        if not all(isinstance(one, list) for one in flat):
            return None
        flat = [item for one in flat for item in one]
    if not flat or not all(type(one) in (int, float) for one in flat):
        return None
    try:
        return np.array(value)
    except ValueError:
        return None


def _numbers_out(value: Any, numbers: list[float]) -> Any:
    """Return a value with its numbers replaced by a mark, and gather them."""
    if isinstance(value, dict):
        return {name: _numbers_out(item, numbers) for name, item in value.items()}
    if isinstance(value, list):
        return [_numbers_out(item, numbers) for item in value]
    if isinstance(value, str):
        numbers += [float(one) for one in _NUMBER.findall(value) if "." in one]
        return _NUMBER.sub(lambda match: "#" if "." in match[0] else match[0], value)
    if isinstance(value, float):
        numbers.append(value)
        return "#"
    return value


def _array(array: np.ndarray) -> dict[str, Any]:
    told: dict[str, Any] = {"dtype": str(array.dtype)}
    if array.dtype.kind in "fiub":
        return told | summary(array)
    return told | {"shape": list(array.shape), "digest": _digest(array.tolist())[:16]}


def _tiers(data: bytes) -> dict[str, list[list[Any]]]:
    """Return what an ELAN file says when, by tiers; times in milliseconds."""
    document = ElementTree.fromstring(data)
    slots = {
        slot.get("TIME_SLOT_ID"): int(slot.get("TIME_VALUE", -1))
        for slot in document.iter("TIME_SLOT")
    }
    return {
        tier.get("TIER_ID", ""): [
            [
                slots[one.get("TIME_SLOT_REF1")],
                slots[one.get("TIME_SLOT_REF2")],
                one.findtext("ANNOTATION_VALUE"),
            ]
            for one in tier.iter("ALIGNABLE_ANNOTATION")
        ]
        for tier in document.iter("TIER")
    }


def _line(told: dict[str, Any]) -> list[Any]:
    if "sums" in told:
        return [told["shape"], {"shape": told["shape"], "sums": told["sums"]}]
    return [told["shape"], {"digest": told["digest"]}]


def _short(number: float) -> float | None:
    return float(f"{number:.10g}") if math.isfinite(number) else None


def _digest(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _brief(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 200 else f"{text[:200]}…"


def _compact(value: Any) -> str:
    """Write JSON for people who compare: a line per item, short lists and objects on one."""

    def lines(item: Any, depth: int) -> str:
        flat = json.dumps(item, ensure_ascii=False)
        if len(flat) + depth < 96 or not isinstance(item, dict | list):
            return flat
        pad = " " * (depth + 1)
        if isinstance(item, dict):
            rows = [f"{pad}{json.dumps(k)}: {lines(v, depth + 1)}" for k, v in item.items()]
            return "{\n" + ",\n".join(rows) + f"\n{' ' * depth}}}"
        rows = [f"{pad}{lines(v, depth + 1)}" for v in item]
        return "[\n" + ",\n".join(rows) + f"\n{' ' * depth}]"

    return lines(value, 0) + "\n"
