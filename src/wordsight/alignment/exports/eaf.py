"""Alignments as ELAN annotation files: one tier for steps, one for lines, one for confidence."""

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from xml.etree import ElementTree as xml

from wordsight.alignment.exports.rows import Row
from wordsight.language.captions.clock import milliseconds

__all__ = ["render_eaf"]

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_MIME_TYPES = {".mp4": "video/mp4", ".mov": "video/quicktime", ".avi": "video/x-msvideo"}


def render_eaf(
    rows: Sequence[Row],
    steps: Sequence[Row],
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

    def tier(self, name: str, rows: Sequence[Row], values: Sequence[str]) -> None:
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
