"""A small XML reader for files from strangers: no document types, no entities, line numbers.

Entities are how a kilobyte of XML unpacks to gigabytes or reads other files; annotation tools never
write them, so that a file which declares any is refused before anything is expanded.
"""

from dataclasses import dataclass, field
from xml.parsers import expat

from wordsight.errors import FormatError

__all__ = ["Element", "parse_xml"]

_MAX_DEPTH = 64


@dataclass(slots=True)
class Element:
    """One element of the tree.

    Attributes:
        tag: Its name.
        attributes: Its attributes by name.
        line: The line it starts in, counting from 1.
        text: Its text, without that of its children.
        children: The elements in it.
    """

    tag: str
    attributes: dict[str, str]
    line: int
    text: str = ""
    children: list["Element"] = field(default_factory=list)

    def all(self, tag: str) -> "list[Element]":
        """Return the children of that name."""
        return [child for child in self.children if child.tag == tag]

    def find(self, *tags: str) -> "Element | None":
        """Follow names downwards to the first such element."""
        here: Element | None = self
        for tag in tags:
            here = (
                next((child for child in here.children if child.tag == tag), None) if here else None
            )
        return here


def parse_xml(text: str, name: str) -> Element:
    """Parse a document.

    Args:
        text: The document.
        name: The file's name, for messages.

    Returns:
        Its outermost element.

    Raises:
        FormatError: If it is not well formed, declares a document type or nests too deeply.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    top = Element("", {}, 0)
    stack = [top]

    def start(tag: str, attributes: dict[str, str]) -> None:
        if len(stack) > _MAX_DEPTH:
            raise FormatError(f"{name}, line {parser.CurrentLineNumber}: nested too deeply.")
        element = Element(tag, attributes, parser.CurrentLineNumber)
        stack[-1].children.append(element)
        stack.append(element)

    def end(_: str) -> None:
        stack.pop()

    def characters(data: str) -> None:
        stack[-1].text += data

    def refuse(*_: object) -> None:
        raise FormatError(
            f"{name}, line {parser.CurrentLineNumber}: document types and entities are refused, "
            "since they can unpack without end; remove the <!DOCTYPE ...> part."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = characters
    parser.StartDoctypeDeclHandler = refuse
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(text, True)
    except expat.ExpatError as error:
        raise FormatError(
            f"{name}, line {error.lineno}: not XML ({expat.ErrorString(error.code)}); the file is "
            "damaged, cut off or of another format."
        ) from None
    return top.children[0]
