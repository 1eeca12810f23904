"""Inferring a lexicon from usage: real labels, the paper's grammar, and what cannot be told."""

import json
from itertools import islice

import pytest

from wordsight.language import (
    default_lexicon,
    enumerate_sentences,
    infer_lexicon,
    parse,
    parse_lexicon,
)

NOUNS = {"person", "book", "bowl", "box", "cloth", "cup", "medcinebox", "microwave", "milk"}
NOUNS |= {"plate", "remote"}


def _inferred(lexicon):
    return {entry.name: (str(entry.part), entry.arity, entry.spellings) for entry in lexicon}


def test_real_labels_of_people_handling_objects(shared_data):
    clips = shared_data("cad120", "clips.jsonl").read_text(encoding="utf-8").splitlines()
    result = infer_lexicon(text for clip in clips for text in json.loads(clip)["sentences"])
    assert result.unread == ()
    found = _inferred(result.lexicon)
    assert {name for name, (part, _, _) in found.items() if part == "noun"} == NOUNS
    assert {name: value for name, value in found.items() if value[0] != "noun"} == {
        "ate": ("verb", 1, ("ate",)),
        "cleaned-with": ("verb", 3, ("cleaned _ with _",)),
        "closed": ("verb", 2, ("closed _",)),
        "drank-from": ("verb", 2, ("drank from _",)),
        "moved": ("verb", 2, ("moved _",)),
        "opened": ("verb", 2, ("opened _",)),
        "placed": ("verb", 2, ("placed _",)),
        "placed-in": ("verb", 3, ("placed _ in _",)),
        "poured-into": ("verb", 3, ("poured _ into _",)),
        "reached-for": ("verb", 2, ("reached for _",)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("hyphens", [True, False])
def test_the_papers_grammar_is_recovered(hyphens):
    corpus = list(islice(enumerate_sentences(max_participants=3), 0, None, 41))
    texts = [s.text if hyphens else s.text.replace("-", " ") for s in corpus]
    result = infer_lexicon(texts)
    assert result.unread == ()
    expected = {entry.name: (entry.part, entry.arity) for entry in default_lexicon()}
    assert {e.name: (e.part, e.arity) for e in result.lexicon} == expected
    for sentence in corpus[::7]:
        assert parse(sentence.text, result.lexicon).words == sentence.words


CASES = [
    # adjective: its noun also comes without it
    (["The red ball rolled", "The ball rolled"], "red", ("adjective", 1, ("red",))),
    # half a name: the two words never part
    (["The person opened the medicine box"], "medicine-box", ("noun", 1, ("medicine box",))),
    # a colour, however few sentences there are
    (["The red ball rolled"], "red", ("adjective", 1, ("red",))),
    (
        ["The man lifted the red ball", "The man dropped the blue ball"],
        "ball",
        ("noun", 1, ("ball",)),
    ),
    (["The big red medicine box fell"], "medicine-box", ("noun", 1, ("medicine box",))),
    # a colour that is also a thing
    (
        ["The man ate the orange", "The man lifted the orange cup"],
        "orange-adjective",
        ("adjective", 1, ("orange",)),
    ),
    # going on: no quality of the subject
    (["The man is walking"], "walking", ("verb", 1, ("walking",))),
    (["The man was walking quickly"], "walking", ("verb", 1, ("walking",))),
    (["The man has been standing by the box"], "standing-by", ("verb", 2, ("standing by _",))),
    # the passive of a verb is that verb
    (["The box was carried by the man"], "carried", ("verb", 2, ("carried _",))),
    (
        ["The box has been carried by the man", "The man carried the box"],
        "carried",
        ("verb", 2, ("carried _",)),
    ),
    (["The cup was put on the box by the man"], "put-on", ("verb", 3, ("put _ on _",))),
    # said by a copula
    (["The ball is heavy", "The ball rolled"], "heavy", ("adjective", 1, ("heavy",))),
    # particle verb, whole and split
    (
        ["The cat picked up the ball", "The cat picked the ball up"],
        "picked-up",
        ("verb", 2, ("picked _ up", "picked up _")),
    ),
    # two objects
    (["The cat gave the dog the ball"], "gave", ("verb", 3, ("gave _ _",))),
    # two prepositions of one verb
    (
        ["A cat moved a cup from the box to the dog"],
        "moved-from-to",
        ("verb", 4, ("moved _ from _ to _",)),
    ),
    # a preposition that several verbs take
    (
        ["The cat threw the ball into the box", "The cat carried the ball into the box"],
        "into",
        ("motion-preposition", 2, ("into",)),
    ),
    # a preposition before the verb places the subject
    (["The cat on the box slept"], "on", ("spatial-preposition", 2, ("on",))),
    # no object
    (["The cat slept quietly"], "slept", ("verb", 1, ("slept",))),
    (["The cat quietly slept"], "quietly", ("adverb", 1, ("quietly",))),
    (["The cat ran to the left"], "to-the-left", ("direction", 1, ("to the left",))),
    # a noun without determiner, seen elsewhere with one
    (
        ["The cat poured milk into the bowl", "The milk froze", "The cat ran"],
        "poured-into",
        ("verb", 3, ("poured _ into _",)),
    ),
    # unnamed subject, auxiliary
    (["Someone is opening the door"], "opening", ("verb", 2, ("opening _",))),
]


def test_the_passive_has_the_meaning_of_the_active():
    texts = ["The box was carried by the man", "The man carried the box"]
    lexicon = infer_lexicon(texts).lexicon
    meanings = {parse(text, lexicon).meaning for text in texts}
    assert meanings == {"man(p0) carried(p0,p1) box(p1)"}


@pytest.mark.parametrize(("texts", "name", "expected"), CASES)
def test_single_inferences(texts, name, expected):
    result = infer_lexicon(texts)
    assert _inferred(result.lexicon)[name] == expected
    assert result.unread == ()


def test_known_entries_are_kept_and_used():
    known = parse_lexicon("fast : adverb\nbob : noun")
    result = infer_lexicon(["Bob opened the door fast"], known)
    assert set(_inferred(result.lexicon)) == {"fast", "bob", "opened", "door"}
    assert [finding.entry.name for finding in result.findings] == ["door", "opened"]


def test_sentences_beyond_inference_are_reported():
    result = infer_lexicon(["Bob saw it.", "The cat slept.", "", "One. Two."])
    assert [text for text, _ in result.unread] == ["Bob saw it.", "", "One. Two."]
    report = result.report()
    assert "2 entries inferred" in report
    assert "3 sentences could not be read" in report


def test_nothing_given_nothing_found():
    result = infer_lexicon([])
    assert len(result.lexicon) == 0
    assert result.findings == ()


@pytest.mark.parametrize(
    "odd",
    [
        "The man and the woman lifted the box.",  # two who act
        "The man lifted the box and put down the cup.",  # two clauses
        "The man did not lift the box.",  # a denial
        "The cup was put on the box, which stood on the table.",  # a relative clause
    ],
)
def test_sentences_that_join_or_deny_teach_nothing(odd):
    plain = ["The man lifted the box.", "The woman lifted the cup.", "The woman dropped the box."]
    found = infer_lexicon([*plain, odd])
    assert found.lexicon == infer_lexicon(plain).lexicon
    assert [text for text, _ in found.unread] == [odd]
