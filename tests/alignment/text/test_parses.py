"""Bracketed parses give the nouns and verbs the literature counts."""

import pytest

from wordsight.alignment.text import nouns_of_parse, parse_tree, verbs_of_parse
from wordsight.errors import FormatError

CASES = [
    # plain
    ("(S (VP (VB Label) (NP (DT the) (NN bottle))))", ("bottle",), ("label",)),
    # the head of a compound only
    ("(NP (DT a) (NN paper) (NN towel))", ("towel",), ()),
    # a measure goes, what it measures stays
    ("(NP (NP (CD 25) (NN mL)) (PP (IN of) (NP (NNP DI) (NN water))))", ("water",), ()),
    # the object of "write" goes
    (
        "(VP (VB Write) (NP (NNP YPAD) (NNP Media)) (PP (IN on) (NP (DT a) (NN label))))",
        ("label",),
        ("write",),
    ),
    # a step is no thing, and each word comes once
    ("(NP (NN step) (CC and) (NN cup) (CC and) (NN Cup))", ("cup",), ()),
    # plural nouns are not counted
    ("(NP (DT the) (NNS ingredients))", (), ()),
]


@pytest.mark.parametrize(("text", "nouns", "verbs"), CASES)
def test_words_of_a_parse(text, nouns, verbs):
    tree = parse_tree(text)
    assert (nouns_of_parse(tree), verbs_of_parse(tree)) == (nouns, verbs)


@pytest.mark.parametrize(
    "text", ["", "(", "(NP", "(NP (NN cup)", "(NP (NN cup)))", "word", "(" * 500]
)
def test_malformed_parses_are_refused(text):
    with pytest.raises(FormatError, match="bracketed parse"):
        parse_tree(text)


def test_the_published_vocabulary_is_found(shared_data):
    nouns, verbs = set(), set()
    for file in sorted(shared_data("wetlab", "protocols").glob("parses_*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            if line.strip():
                tree = parse_tree(line)
                nouns |= set(nouns_of_parse(tree))
                verbs |= set(verbs_of_parse(tree))
    assert (len(nouns), len(verbs)) == (34, 25)
