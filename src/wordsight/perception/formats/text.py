"""Reading text files, numbers and XML, and exact decimal arithmetic for coordinates."""

from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation
from pathlib import Path
from xml.parsers import expat

from wordsight.errors import FormatError
from wordsight.files import check_plain

__all__ = [
    "XmlElement",
    "decimal_of",
    "minus",
    "parse_decimal",
    "parse_number",
    "parse_whole",
    "parse_xml",
    "plus",
    "read_text",
    "text_of",
]


def read_text(path: Path) -> str:
    """Read a UTF-8 file, with or without a byte order mark."""
    try:
        check_plain(path)
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(
            f"{path.name} is not text (byte {error.start}); expected MOT text, COCO JSON, CVAT XML "
            "or CSV. Unpack it first if it is an archive."
        ) from error
    except OSError as error:
        raise FormatError(
            f"{path} cannot be read ({error.strerror}); check its name and permissions."
        ) from error


def parse_whole(text: str) -> int:
    """Parse an integer such as ``7`` or ``7.0``; raise ``ValueError`` for anything else."""
    stripped = text.strip()
    try:
        return int(_without_underscores(stripped))
    except ValueError:
        value = parse_number(stripped)
    if not value.is_integer():
        raise ValueError(f"{stripped!r} is not a whole number")
    return int(value)


def parse_number(text: str) -> float:
    """Parse a number; NaN and infinity are accepted here and rejected for boxes."""
    try:
        return float(_without_underscores(text.strip()))
    except ValueError:
        raise ValueError(f"{text.strip()!r} is not a number") from None


def _without_underscores(text: str) -> str:
    # Python accepts 1_000 as a number; a file that contains it is damaged.
    if "_" in text:
        raise ValueError(text)
    return text


# Formats with a corner and a size would change boxes by a rounding error each time they are read
# and written. The shortest decimal of a float identifies it, and decimals add exactly.

# Floats span 10^-324 to 10^308; this many digits represent any sum of two of them.
_EXACT = Context(prec=700)


def decimal_of(value: float) -> Decimal:
    """Return the shortest decimal that parses as this float."""
    return Decimal(repr(float(value)))


def parse_decimal(text: str) -> Decimal:
    """Parse a finite number; raise ``ValueError`` for anything else."""
    try:
        value = Decimal("" if "_" in text else text.strip())
    except InvalidOperation:
        raise ValueError(f"{text.strip()!r} is not a number") from None
    # Far from any coordinate, and a huge exponent would give a huge text.
    if not value.is_finite() or abs(value.adjusted()) > 400:
        raise ValueError(f"{text.strip()!r} is not a usable number")
    return value


def plus(one: Decimal, other: Decimal) -> Decimal:
    """Add exactly."""
    return _EXACT.add(one, other)


def minus(one: Decimal, other: Decimal) -> Decimal:
    """Subtract exactly."""
    return _EXACT.subtract(one, other)


def text_of(value: Decimal | float) -> str:
    """Format a number without an exponent or trailing zeros.

    Examples:
        >>> text_of(100.0), text_of(0.25), text_of(1e-7)
        ('100', '0.25', '0.0000001')
    """
    exact = value if isinstance(value, Decimal) else decimal_of(value)
    if exact == 0:
        return "0"
    return format(exact.normalize(_EXACT), "f")


# XML with the line number of each element, for messages, which ElementTree does not keep. Document
# types and with them entities, which can expand without limit or read other files, are rejected;
# annotation tools never write them.

_MAX_DEPTH = 64


@dataclass(slots=True)
class XmlElement:
    """An XML element: name, attributes, first line, own text and children."""

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["XmlElement"] = field(default_factory=list)

    def all(self, tag: str) -> "list[XmlElement]":
        """Return the children of a name."""
        return [child for child in self.children if child.tag == tag]

    def find(self, *tags: str) -> "XmlElement | None":
        """Return the first element at a path of names."""
        here: XmlElement | None = self
        for tag in tags:
            here = next(iter(here.all(tag)), None) if here else None
        return here


def parse_xml(text: str, name: str) -> XmlElement:
    """Return the root element of a document; ``name`` is the file name for messages."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = XmlElement("", {}, 0)
    stack = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _MAX_DEPTH:
            raise FormatError(f"{name}, line {parser.CurrentLineNumber}: nested too deeply.")
        element = XmlElement(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    def reject(*_: object) -> None:
        raise FormatError(
            f"{name}, line {parser.CurrentLineNumber}: document types and entities are not "
            "allowed, since they can expand without limit; remove the <!DOCTYPE ...> part."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = reject
    parser.EntityDeclHandler = reject
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"{name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}); the file is "
            "damaged, truncated or of another format."
        ) from None
    return top.children[0]
