"""Nouns and verbs are found by rules, about as well as a trained parser finds them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.alignment.text import nouns_and_verbs, nouns_of_parse, parse_tree, split_sentences
from wordsight.alignment.text.tagging import base_form, singular
from wordsight.worlds.workbench.steps import KINDS, kinds_for, write_protocol
from wordsight.worlds.workbench.things import THINGS

CASES = [
    # the thing measured, not the measure
    ("Add 25 mL of DI water to a 50 mL Falcon tube.", {"water", "tube"}, {"add"}),
    # heads of compounds
    ("Dry off the bottle with a paper towel.", {"bottle", "towel"}, {"dry"}),
    # "of" phrases
    (
        "Stick a piece of tape on the beaker to protect the label.",
        {"tape", "beaker", "label"},
        {"stick", "protect"},
    ),
    # what is written is no thing
    (
        "Write LB Growth Media on a label, stick it to the bottle.",
        {"label", "bottle"},
        {"write", "stick"},
    ),
    # a clause before the command
    (
        "Using the spatula, measure 2 g of salt into the boat.",
        {"spatula", "salt", "boat"},
        {"use", "measure"},
    ),
    # a verb that is an adjective elsewhere
    ("Empty the clean cylinder into the flask.", {"cylinder", "flask"}, {"empty"}),
    ("The person closed the clean box", {"person", "box"}, {"close"}),
    # lists of things stay things
    ("Fetch the tube, cap and rack.", {"tube", "cap", "rack"}, {"fetch"}),
    # told in the past, by somebody
    ("The person poured the milk into the bowl", {"person", "milk", "bowl"}, {"pour"}),
    ("The person drank from the cup", {"person", "cup"}, {"drink"}),
    # plurals become singular
    ("Slice two tomatoes with the knives.", {"tomato", "knife"}, {"slice"}),
    # a verb names its tool
    ("Pipette 20 uL into the tube.", {"pipette", "tube"}, {"pipette"}),
    # no thing at all
    ("Mix.", set(), {"mix"}),
    ("", set(), set()),
]


@pytest.mark.parametrize(("sentence", "nouns", "verbs"), CASES)
def test_nouns_and_verbs(sentence, nouns, verbs):
    found = nouns_and_verbs(sentence)
    assert (set(found[0]), set(found[1])) == (nouns, verbs)


def test_rules_agree_with_parses_of_real_protocols(shared_data):
    folder = shared_data("wetlab", "protocols")
    hits = misses = 0
    for name in ("CELL", "LLGM", "YPAD"):
        rows = (folder / f"protocol_{name}.txt").read_text(encoding="utf-8").splitlines()
        trees = (folder / f"parses_{name}.txt").read_text(encoding="utf-8").splitlines()
        lines = [row.strip().removeprefix("Step ") for row in rows if row.strip()]
        for line, tree in zip(lines, (tree for tree in trees if tree.strip()), strict=True):
            wanted = {singular(noun) for noun in nouns_of_parse(parse_tree(tree))}
            found = {noun for s in split_sentences(line) for noun in nouns_and_verbs(s)[0]}
            hits += len(wanted & found)
            misses += len(wanted ^ found)
    # What differs is mostly salts spelled out in the text and as formulas in the parses.
    assert 2 * hits / (2 * hits + misses) > 0.8


def test_every_thing_a_workbench_sentence_names_is_found():
    kinds = kinds_for(tuple(KINDS), tuple(THINGS))
    rng = np.random.default_rng(5)
    protocols = [write_protocol(20, kinds, tuple(THINGS), rng) for _ in range(10)]
    sentences = [sentence for protocol in protocols for sentence in protocol.sentences]
    found = [set(s.named()) <= set(nouns_and_verbs(s.text)[0]) for s in sentences]
    assert sum(found) / len(found) > 0.98


@pytest.mark.parametrize(
    ("word", "base"),
    [
        ("stirring", "stir"),
        ("dried", "dry"),
        ("shook", "shake"),
        ("placed", "place"),
        ("cup", None),
    ],
)
def test_base_forms(word, base):
    assert base_form(word) == base


@given(st.text(max_size=120))
def test_any_text_gives_words(sentence):
    nouns, verbs = nouns_and_verbs(sentence)
    assert len(set(nouns)) == len(nouns)
    assert all(word == word.lower() and word for word in (*nouns, *verbs))
