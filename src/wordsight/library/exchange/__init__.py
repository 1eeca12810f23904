"""Annotations to and from the tools that people use beside Wordsight."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordsight.errors import FormatError
from wordsight.files import atomic_folder
from wordsight.library.exchange.annotations import (
    AnnotatedVideo,
    ReadSentence,
    ReadVideo,
    annotated,
)
from wordsight.library.exchange.corrections import ImportedVideo, put_back
from wordsight.library.exchange.datasets import (
    read_coco_files,
    read_fiftyone,
    read_hugging_face,
    write_coco_file,
    write_fiftyone,
    write_hugging_face,
)
from wordsight.library.exchange.labelling import (
    read_cvat_files,
    read_elan,
    read_label_studio,
    write_cvat_files,
    write_elan,
    write_label_studio,
)

__all__ = [
    "TOOLS",
    "AnnotatedVideo",
    "ExchangeTool",
    "ImportedVideo",
    "ReadSentence",
    "ReadVideo",
    "annotated",
    "put_back",
    "read_annotations",
    "write_annotations",
]


@dataclass(frozen=True)
class ExchangeTool:
    """How annotations go to a tool and come back.

    Attributes:
        write: Writes videos into an empty folder.
        read: Reads files.
        patterns: Names of the files it reads in a folder; the first that match are taken.
    """

    write: Callable[[Path, Iterable[AnnotatedVideo]], None]
    read: Callable[[Sequence[Path]], Iterator[ReadVideo]]
    patterns: tuple[str, ...]


TOOLS = {
    "fiftyone": ExchangeTool(write_fiftyone, read_fiftyone, ("manifest.json",)),
    "cvat": ExchangeTool(write_cvat_files, read_cvat_files, ("*.xml", "*.zip")),
    "label-studio": ExchangeTool(
        write_label_studio, read_label_studio, ("tasks.json", "project-*.json", "*.json")
    ),
    "elan": ExchangeTool(write_elan, read_elan, ("*.eaf",)),
    "coco": ExchangeTool(write_coco_file, read_coco_files, ("annotations.json", "*.json")),
    "hf": ExchangeTool(
        write_hugging_face, read_hugging_face, ("metadata.jsonl", "parquet/sentences.parquet")
    ),
}
"""Tools by the name that ``export --to`` and ``import --from`` know them by."""


def write_annotations(folder: Path, videos: Iterable[AnnotatedVideo], tool: str) -> None:
    """Write videos for a tool into a folder, which appears when it is complete."""
    with atomic_folder(folder) as made:
        TOOLS[tool].write(made, videos)


def read_annotations(path: Path, tool: str | None = None) -> Iterator[ReadVideo]:
    """Read what a tool exported.

    Args:
        path: A file, or a folder of them.
        tool: Which tool; by default recognised by the names and the beginning of the files.

    Raises:
        FormatError: If there is nothing to read, or it is not as the tool writes it.
    """
    if not path.exists():
        raise FormatError(f"{path} does not exist; check the name.")
    name = tool or _recognised(path)
    files = [path] if path.is_file() else _files(path, TOOLS[name])
    if not files:
        wanted = ", ".join(TOOLS[name].patterns)
        raise FormatError(f"{path} holds no files of {name}; expected {wanted}.")
    return TOOLS[name].read(files)


def _files(folder: Path, tool: ExchangeTool) -> list[Path]:
    for pattern in tool.patterns:
        found = sorted(path for path in folder.glob(pattern) if path.is_file())
        if found:
            return found
    return []


def _recognised(path: Path) -> str:
    """Tell the tool by files that no other writes, then by what a JSON file begins with."""
    by_suffix = {".eaf": "elan", ".xml": "cvat", ".zip": "cvat", ".jsonl": "hf", ".parquet": "hf"}
    if path.is_dir():
        if (path / "tasks.json").is_file():
            return "label-studio"
        for name in ("fiftyone", "hf", "elan", "cvat"):
            if _files(path, TOOLS[name]):
                return name
        found = _files(path, TOOLS["label-studio"])
        if not found:
            raise FormatError(f"{path} holds nothing that a tool exported; name it with --from.")
        path = found[0]
    if path.suffix.lower() in by_suffix:
        return by_suffix[path.suffix.lower()]
    if path.name == "manifest.json":
        return "fiftyone"
    with path.open("rb") as file:
        start = file.read(4096).lstrip(b"\xef\xbb\xbf \r\n\t")
    if start.startswith(b"["):
        return "label-studio"
    if start.startswith(b"{"):
        return "coco"
    raise FormatError(f"{path.name} is of no tool that is known; name it with --from.")
