"""Alignments written to files: SRT, WebVTT, chapters, TSV, JSON, ELAN and Audacity labels."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as xml

from wordsight.alignment.export.rows import ExportRow, line_rows, render_json, step_rows
from wordsight.alignment.records import Alignment, Instructions
from wordsight.errors import FormatError, WordsightError
from wordsight.files import write_text
from wordsight.language.captions import Caption, render_captions
from wordsight.language.captions.subtitles import milliseconds

__all__ = [
    "EXPORTS",
    "check_writable",
    "export_paths",
    "render_audacity",
    "render_chapters",
    "render_eaf",
    "render_srt",
    "render_tsv",
    "render_vtt",
    "write_alignment",
]


_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_MIME_TYPES = {".mp4": "video/mp4", ".mov": "video/quicktime", ".avi": "video/x-msvideo"}


def render_eaf(
    rows: Sequence[ExportRow],
    steps: Sequence[ExportRow],
    *,
    video: str | os.PathLike[str] | None = None,
    when: datetime | None = None,
) -> str:
    """Return an EAF 3.0 document.

    Args:
        rows: Lines in order of time.
        steps: Steps in order of time.
        video: The video, to be linked.
        when: The date written into it; now if left out.

    Returns:
        XML that ELAN opens; times in whole milliseconds.
    """
    date = (when or datetime.now(UTC)).isoformat(timespec="seconds")
    xml.register_namespace("xsi", _INSTANCE)
    root = xml.Element("ANNOTATION_DOCUMENT", AUTHOR="Wordsight", DATE=date, FORMAT="3.0")
    root.set("VERSION", "3.0")
    root.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", _SCHEMA)
    header = xml.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if video is not None:
        _link(header, Path(video))
    times = xml.SubElement(root, "TIME_ORDER")
    writer = _Writer(root, times)
    writer.tier("steps", steps, [f"{row.step}. {row.text}" for row in steps])
    writer.tier("lines", rows, [row.text for row in rows])
    writer.tier("confidence", rows, [f"{row.confidence:.2f}" for row in rows])
    xml.SubElement(
        root,
        "LINGUISTIC_TYPE",
        LINGUISTIC_TYPE_ID="default-lt",
        TIME_ALIGNABLE="true",
        GRAPHIC_REFERENCES="false",
    )
    xml.indent(root, "    ")
    body = xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


class _Writer:
    """Adds tiers, numbering time slots and annotations as it goes."""

    def __init__(self, root: xml.Element, times: xml.Element) -> None:
        self._root = root
        self._times = times
        self._slots = 0
        self._annotations = 0

    def tier(self, name: str, rows: Sequence[ExportRow], values: Sequence[str]) -> None:
        """Add a tier with one annotation per row."""
        tier = xml.SubElement(self._root, "TIER", LINGUISTIC_TYPE_REF="default-lt", TIER_ID=name)
        for row, value in zip(rows, values, strict=True):
            self._annotations += 1
            outer = xml.SubElement(tier, "ANNOTATION")
            inner = xml.SubElement(
                outer,
                "ALIGNABLE_ANNOTATION",
                ANNOTATION_ID=f"a{self._annotations}",
                TIME_SLOT_REF1=self._slot(row.start),
                TIME_SLOT_REF2=self._slot(row.end),
            )
            xml.SubElement(inner, "ANNOTATION_VALUE").text = _printable(value)

    def _slot(self, seconds: float) -> str:
        self._slots += 1
        name = f"ts{self._slots}"
        value = str(milliseconds(seconds))
        xml.SubElement(self._times, "TIME_SLOT", TIME_SLOT_ID=name, TIME_VALUE=value)
        return name


def _link(header: xml.Element, video: Path) -> None:
    kind = _MIME_TYPES.get(video.suffix.lower(), "video/*")
    place = video.resolve().as_uri()
    relative = f"./{video.name}"
    xml.SubElement(
        header, "MEDIA_DESCRIPTOR", MEDIA_URL=place, MIME_TYPE=kind, RELATIVE_MEDIA_URL=relative
    )


def _printable(text: str) -> str:
    # XML 1.0 has no way to write most control characters.
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))


def render_tsv(rows: Sequence[ExportRow]) -> str:
    """Return a table with a header: start and end in whole milliseconds, text, step and so on.

    The first three columns are those that speech recognisers write, so that their tools read it.
    """
    lines = ["start\tend\ttext\tstep\tline\tconfidence"]
    lines += [
        f"{milliseconds(row.start)}\t{milliseconds(row.end)}\t{_cell(row.text)}\t{row.step}\t"
        f"{row.line}\t{row.confidence:.3f}"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def render_audacity(rows: Sequence[ExportRow]) -> str:
    """Return a label track: start and end in seconds, then the label."""
    return "".join(f"{row.start:.6f}\t{row.end:.6f}\t{_cell(row.text)}\n" for row in rows)


def _cell(text: str) -> str:
    # Neither format can escape, so what would break a row becomes a space.
    return " ".join(text.split())


def render_srt(rows: Sequence[ExportRow]) -> str:
    """Return SubRip subtitles, one per line that happened."""
    return render_captions(_captions(rows), "srt")


def render_vtt(rows: Sequence[ExportRow]) -> str:
    """Return WebVTT subtitles, one per line that happened."""
    return render_captions(_captions(rows), "vtt")


def render_chapters(steps: Sequence[ExportRow]) -> str:
    """Return WebVTT chapters, one per step, as players show in a menu."""
    titled = [Caption(row.start, row.end, f"{row.step}. {row.text}") for row in steps]
    return render_captions(titled, "vtt")


def _captions(rows: Sequence[ExportRow]) -> list[Caption]:
    return [Caption(row.start, row.end, row.text) for row in rows]


EXPORTS: dict[str, tuple[str, str]] = {
    "srt": (".srt", "SubRip subtitles, read by every player"),
    "vtt": (".vtt", "WebVTT subtitles, and chapters beside them in .chapters.vtt"),
    "tsv": (".tsv", "a table with times in milliseconds"),
    "json": (".json", "everything, also what did not happen"),
    "eaf": (".eaf", "ELAN, with a tier for steps and one for lines"),
    "audacity": (".labels.txt", "a label track for Audacity"),
}
"""Formats by name: the ending of their files, and a line about each."""

_CHAPTERS = ".chapters.vtt"


def export_paths(
    output: str | os.PathLike[str], formats: Sequence[str] | None = None
) -> dict[Path, str]:
    """Say which files would be written.

    Args:
        output: The file; with several formats only its name without the ending counts.
        formats: Names in ``EXPORTS``, or ``all``; by default the ending of ``output`` decides.

    Returns:
        Per file the format, ``chapters`` for that of chapters.

    Raises:
        FormatError: If a format is unknown, or the ending tells none.
    """
    target = Path(output)
    names = list(formats) if formats else [_format_of(target)]
    if "all" in names:
        names = list(EXPORTS)
    paths: dict[Path, str] = {}
    for name in names:
        if name not in EXPORTS:
            raise FormatError(
                f"there is no format {name!r}; known are {', '.join(EXPORTS)} and all."
            )
        own = target.suffix.lower() in _suffixes(name)
        stem = target.with_suffix("") if target.suffix.lower() in _endings() else target
        paths[target if own else stem.with_name(stem.name + EXPORTS[name][0])] = name
        if name == "vtt":
            paths[stem.with_name(stem.name + _CHAPTERS)] = "chapters"
    return paths


def write_alignment(
    output: str | os.PathLike[str],
    alignment: Alignment,
    instructions: Instructions,
    formats: Sequence[str] | None = None,
    *,
    video: str | os.PathLike[str] | None = None,
    protected: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> list[Path]:
    """Write an alignment, each file atomically.

    Args:
        output: The file; with several formats only its name without the ending counts.
        alignment: What was found.
        instructions: The text it was made with.
        formats: Names in ``EXPORTS``, or ``all``; by default the ending of ``output`` decides.
        video: The video, for formats that link it.
        protected: Files that are never overwritten: the text and the video.
        overwrite: Whether other existing files may be replaced.

    Returns:
        The files written.

    Raises:
        FormatError: If a format is unknown.
        WordsightError: If a file exists already, is protected or cannot be written.
    """
    paths = export_paths(output, formats)
    check_writable(paths, protected=protected, overwrite=overwrite)
    rows = line_rows(alignment, instructions)
    steps = step_rows(rows, instructions)
    renderers = {
        "srt": lambda: render_srt(rows),
        "vtt": lambda: render_vtt(rows),
        "chapters": lambda: render_chapters(steps),
        "tsv": lambda: render_tsv(rows),
        "json": lambda: render_json(alignment, instructions),
        "eaf": lambda: render_eaf(rows, steps, video=video),
        "audacity": lambda: render_audacity(rows),
    }
    for path, name in paths.items():
        try:
            write_text(path, renderers[name](), overwrite=overwrite)
        except OSError as error:
            raise WordsightError(f"{path} cannot be written: {error.strerror or error}.") from error
    return list(paths)


def check_writable(
    paths: Sequence[Path] | dict[Path, str],
    *,
    protected: Sequence[str | os.PathLike[str]] = (),
    overwrite: bool = False,
) -> None:
    """Refuse files that exist, unless ``overwrite``, and those that are inputs in any case."""
    inputs = {Path(one).resolve() for one in protected}
    for path in paths:
        if path.resolve() in inputs:
            raise WordsightError(f"{path} is what is read; give the result another name.")
        if path.exists() and not overwrite:
            raise WordsightError(f"{path} exists already; choose another name, or --force.")


def _format_of(path: Path) -> str:
    for name in EXPORTS:
        if path.suffix.lower() in _suffixes(name):
            return name
    raise FormatError(
        f"the name {path.name!r} does not tell a format; end it in {', '.join(sorted(_endings()))} "
        f"or name one with --format ({', '.join(EXPORTS)}, all)."
    )


def _suffixes(name: str) -> tuple[str, ...]:
    others = {"vtt": (".vtt", ".webvtt"), "audacity": (".txt",)}
    return others.get(name, (EXPORTS[name][0],))


def _endings() -> set[str]:
    return {suffix for name in EXPORTS for suffix in _suffixes(name)}
