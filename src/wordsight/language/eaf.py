"""ELAN annotation documents (EAF 3.0): tiers of timed annotations on one video."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree as xml

__all__ = ["EafAnnotation", "eaf_document"]

EafAnnotation = tuple[int, int, str]
"""Start and end in milliseconds, and the text."""

_SCHEMA = "http://www.mpi.nl/tools/elan/EAFv3.0.xsd"
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance"
_MIME_TYPES = {".mp4": "video/mp4", ".mov": "video/quicktime", ".avi": "video/x-msvideo"}
_DATE = "2000-01-01T00:00:00+00:00"  # a constant, so that equal content gives equal bytes
_TYPE = "default-lt"


def eaf_document(
    tiers: Mapping[str, Sequence[EafAnnotation]],
    *,
    date: str = _DATE,
    video: str | os.PathLike[str] | None = None,
    properties: Mapping[str, str] | None = None,
) -> str:
    """Return an EAF document.

    Args:
        tiers: Per tier its annotations. Each gets time slots of its own, so that ELAN can move it
            alone; an annotation without a length lasts one millisecond.
        date: When the document was made, in ISO format.
        video: The video file to link.
        properties: Further entries of the header by name.
    """
    xml.register_namespace("xsi", _INSTANCE)
    root = xml.Element("ANNOTATION_DOCUMENT", AUTHOR="Wordsight", DATE=date, FORMAT="3.0")
    root.set("VERSION", "3.0")
    root.set(f"{{{_INSTANCE}}}noNamespaceSchemaLocation", _SCHEMA)
    header = xml.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    if video is not None:
        _link(header, Path(video))
    for name, value in (properties or {}).items():
        xml.SubElement(header, "PROPERTY", NAME=name).text = _printable(value)
    rows = [(name, row) for name, annotations in tiers.items() for row in annotations]
    slots = _time_slots(xml.SubElement(root, "TIME_ORDER"), [row for _, row in rows])
    elements = {
        name: xml.SubElement(root, "TIER", LINGUISTIC_TYPE_REF=_TYPE, TIER_ID=_printable(name))
        for name in tiers
    }
    for number, (name, (_, _, text)) in enumerate(rows):
        annotation = xml.SubElement(
            xml.SubElement(elements[name], "ANNOTATION"),
            "ALIGNABLE_ANNOTATION",
            ANNOTATION_ID=f"a{number + 1}",
            TIME_SLOT_REF1=slots[number, 0],
            TIME_SLOT_REF2=slots[number, 1],
        )
        xml.SubElement(annotation, "ANNOTATION_VALUE").text = _printable(text)
    kind = {"LINGUISTIC_TYPE_ID": _TYPE, "TIME_ALIGNABLE": "true", "GRAPHIC_REFERENCES": "false"}
    xml.SubElement(root, "LINGUISTIC_TYPE", kind)
    xml.indent(root, "    ")
    body = xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _time_slots(order: xml.Element, rows: Sequence[EafAnnotation]) -> dict[tuple[int, int], str]:
    """Write the time slots in order of time.

    Returns:
        The name of each slot, by the number of the annotation and 0 for its start, 1 for its end.
    """
    times = []
    for number, (start, end, _) in enumerate(rows):
        times += [(start, number, 0), (max(end, start + 1), number, 1)]
    names = {}
    for place, (time, number, side) in enumerate(sorted(times), start=1):
        names[number, side] = f"ts{place}"
        xml.SubElement(order, "TIME_SLOT", TIME_SLOT_ID=f"ts{place}", TIME_VALUE=str(time))
    return names


def _link(header: xml.Element, video: Path) -> None:
    xml.SubElement(
        header,
        "MEDIA_DESCRIPTOR",
        MEDIA_URL=video.resolve().as_uri(),
        MIME_TYPE=_MIME_TYPES.get(video.suffix.lower(), "video/*"),
        RELATIVE_MEDIA_URL=f"./{video.name}",
    )


def _printable(text: str) -> str:
    # XML 1.0 has no way to write most control characters.
    return "".join(c for c in text if c in "\t\n" or (c >= " " and c not in "\ufffe\uffff"))
