"""Nouns and verbs from bracketed parses, ``(S (VP (VB Pour) (NP (DT the) (NN water))))``.

The rules follow the instruction-alignment literature: heads of noun phrases only, the substance
rather than its measure in "25 mL of water", and nothing of what is written on a label.
"""

import re
from dataclasses import dataclass

from wordsight.errors import FormatError

__all__ = ["Tree", "nouns_of_parse", "parse_tree", "verbs_of_parse", "words_of_parse"]

_PIECE = re.compile(r"[()]|[^\s()]+")
_NOUN_TAGS = frozenset({"NN", "NNP"})
_DEEPEST = 200  # nested brackets; more are not a sentence and would exhaust the stack


@dataclass(frozen=True)
class Tree:
    """A node of a parse.

    Attributes:
        tag: Part of speech or kind of phrase.
        word: The word of a leaf, lower case; empty for other nodes.
        children: Child nodes in order.
    """

    tag: str
    word: str = ""
    children: tuple["Tree", ...] = ()


def parse_tree(text: str) -> Tree:
    """Parse one bracketed tree.

    Raises:
        FormatError: If brackets do not match, or there is more than one tree.

    Examples:
        >>> parse_tree("(NP (DT the) (NN Bottle))").children[1]
        Tree(tag='NN', word='bottle', children=())
    """
    pieces = _PIECE.findall(text)
    tree, end = _node(pieces, 0, 0, text)
    if end != len(pieces):
        raise _malformed(text, "one tree")
    return tree


def nouns_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return the heads of noun phrases in order, each once, without "step"."""
    nouns: list[str] = []
    _gather_nouns(tree, nouns)
    return tuple(dict.fromkeys(noun for noun in nouns if noun != "step"))


def verbs_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return the verbs in their base form, in order, each once."""
    if tree.word:
        return (tree.word,) if tree.tag == "VB" else ()
    verbs = (verb for child in tree.children for verb in verbs_of_parse(child))
    return tuple(dict.fromkeys(verbs))


def words_of_parse(tree: Tree) -> tuple[str, ...]:
    """Return all words, lower case, in order."""
    if tree.word:
        return (tree.word,)
    return tuple(word for child in tree.children for word in words_of_parse(child))


def _node(pieces: list[str], at: int, depth: int, text: str) -> tuple[Tree, int]:
    if at + 1 >= len(pieces) or pieces[at] != "(" or depth > _DEEPEST:
        raise _malformed(text, "an opening bracket and a tag")
    has_tag = pieces[at + 1] not in "()"
    tag, at = (pieces[at + 1], at + 2) if has_tag else ("", at + 1)
    children: list[Tree] = []
    word = ""
    while at < len(pieces) and pieces[at] != ")":
        if pieces[at] == "(":
            child, at = _node(pieces, at, depth + 1, text)
            children.append(child)
        else:
            word, at = pieces[at].lower(), at + 1
    if at == len(pieces):
        raise _malformed(text, "a closing bracket")
    return Tree(tag, "" if children else word, tuple(children)), at + 1


def _gather_nouns(tree: Tree, nouns: list[str]) -> None:
    if tree.word and tree.tag in _NOUN_TAGS:
        nouns.append(tree.word)
    after_write = False
    for place, child in enumerate(tree.children):
        following = tree.children[place + 1] if place + 1 < len(tree.children) else None
        if not (after_write or _is_modifier(child, following)):
            _gather_nouns(child, nouns)
        after_write = child.tag.startswith("VB") and child.word == "write"


def _is_modifier(child: Tree, following: Tree | None) -> bool:
    """Return whether a node only modifies the next one: "paper" towel, "25 mL" of water."""
    if following is None:
        return False
    if following.tag in _NOUN_TAGS:
        return True
    words = words_of_parse(following)[:1] if following.tag == "PP" else ()
    return words == ("of",)


def _malformed(text: str, expected: str) -> FormatError:
    shown = text.strip()
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return FormatError(
        f"a bracketed parse needs {expected}, got {shown!r}; write it like "
        "(S (VP (VB Pour) (NP (DT the) (NN water))))."
    )
