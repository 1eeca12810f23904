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
    moments = sorted({round(1000 * t) for _, start, end, _ in rows for t in (start, end)})
    order = Xml.SubElement(root, "TIME_ORDER")
    slots = {}
    for number, moment in enumerate(moments, start=1):
        slots[moment] = f"ts{number}"
        slot = {"TIME_SLOT_ID": f"ts{number}", "TIME_VALUE": str(moment)}
        Xml.SubElement(order, "TIME_SLOT", slot)
    number = 0
    for text in sorted({row[3] for row in rows}):
        tier = Xml.SubElement(root, "TIER", LINGUISTIC_TYPE_REF="states", TIER_ID=text)
        for _, start, end, _ in (row for row in rows if row[3] == text):
            number += 1
            annotation = Xml.SubElement(Xml.SubElement(tier, "ANNOTATION"), "ALIGNABLE_ANNOTATION")
            annotation.set("ANNOTATION_ID", f"a{number}")
            annotation.set("TIME_SLOT_REF1", slots[round(1000 * start)])
            annotation.set("TIME_SLOT_REF2", slots[round(1000 * end)])
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
