"""Stretches of time as an ELAN annotation document (EAF 3.0): one tier for each thing said."""

from collections.abc import Sequence
from xml.etree import ElementTree as Xml

__all__ = ["eaf_document"]

_DATE = "2000-01-01T00:00:00+00:00"  # the same content gives the same bytes


def eaf_document(rows: Sequence[tuple[str, float, float, str]], video_id: str) -> str:
    """Return the document.

    Args:
        rows: Video, start and end in seconds, and what is said; each text gets a tier of its own.
        video_id: Which video, noted as the document's medium.
    """
    root = Xml.Element("ANNOTATION_DOCUMENT", AUTHOR="", DATE=_DATE, FORMAT="3.0", VERSION="3.0")
    header = Xml.SubElement(root, "HEADER", MEDIA_FILE="", TIME_UNITS="milliseconds")
    Xml.SubElement(header, "PROPERTY", NAME="video").text = video_id
    spans = [_milliseconds(start, end) for _, start, end, _ in rows]
    order = Xml.SubElement(root, "TIME_ORDER")
    slots = _slots(order, spans)
    number = 0
    for text in sorted({row[3] for row in rows}):
        tier = Xml.SubElement(root, "TIER", LINGUISTIC_TYPE_REF="states", TIER_ID=text)
        for place in (place for place, row in enumerate(rows) if row[3] == text):
            number += 1
            annotation = Xml.SubElement(Xml.SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION")
            annotation.set("ANNOTATION_ID", f"a{number}")
            annotation.set("TIME_SLOT_REF1", slots[place, 0])
            annotation.set("TIME_SLOT_REF2", slots[place, 1])
            Xml.SubElement(annotation, "ANNOTATION_VALUE").text = text
    Xml.SubElement(
        root,
        "LINGUISTIC_TYPE",
        GRAPHIC_REFERENCES="false",
        LINGUISTIC_TYPE_ID="states",
        TIME_ALIGNABLE="true",
    )
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _milliseconds(start: float, end: float) -> tuple[int, int]:
    """Return a stretch as ELAN keeps it; it has no room for what lasts no time at all."""
    first = round(1000 * start)
    return first, max(round(1000 * end), first + 1)


def _slots(order: Xml.Element, spans: Sequence[tuple[int, int]]) -> dict[tuple[int, int], str]:
    """Write the moments in order; each end of each stretch has its own, to be moved alone.

    Returns:
        The name of the moment, by the number of the stretch and 0 or 1 for its start or end.
    """
    ends = [(span[side], place, side) for place, span in enumerate(spans) for side in (0, 1)]
    names = {}
    for number, (moment, place, side) in enumerate(sorted(ends), start=1):
        names[place, side] = f"ts{number}"
        slot = {"TIME_SLOT_ID": f"ts{number}", "TIME_VALUE": str(moment)}
        Xml.SubElement(order, "TIME_SLOT", slot)
    return names
