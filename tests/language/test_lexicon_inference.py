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
    # a preposition that several verbs always take
    (
        ["The cat threw the ball into the box", "The cat carried the ball into the box"],
        "threw-into",
        ("verb", 3, ("threw _ into _",)),
    ),
    # one that they take now and then is a detail, which is left out
    (
        [
            "The cat threw the ball into the box",
            "The cat threw the ball",
            "The cat carried the ball into the box",
            "The cat carried the ball",
        ],
        "threw",
        ("verb", 2, ("threw _",)),
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


@pytest.mark.slow
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
    result = infer_lexicon(["Did Bob see it?", "The cat slept.", "", "The cat did not run."])
    unread = [text for text, _ in result.unread]
    assert unread == ["Did Bob see it?", "", "The cat did not run."]
    assert "3 sentences could not be read" in result.report()


def test_nothing_given_nothing_found():
    result = infer_lexicon([])
    assert len(result.lexicon) == 0
    assert result.findings == ()


@pytest.mark.parametrize(
    ("odd", "meanings"),
    [
        (
            "The man and the dog lifted the box.",
            ["man(p0) lifted(p0,p1) box(p1) dog(p2) lifted(p2,p1)"],
        ),
        (
            "The man lifted the box and dropped the cup.",
            ["man(p0) lifted(p0,p1) box(p1)", "man(p0) dropped(p0,p1) cup(p1)"],
        ),
        ("The man did not lift the box.", []),
        (
            "The cup was dropped by the man who lifted the box.",
            ["man(p0) dropped(p0,p1) cup(p1)", "man(p0) lifted(p0,p1) box(p1)"],
        ),
    ],
)
def test_sentences_that_join_or_deny(odd, meanings):
    plain = ["The man lifted the box.", "The dog lifted the cup.", "The dog dropped the box."]
    found = infer_lexicon([*plain, odd])
    assert found.lexicon == infer_lexicon(plain).lexicon
    assert [sentence.meaning for sentence in found.sentences[-1]] == meanings


def test_forms_of_a_word_are_one_entry():
    found = infer_lexicon(
        ["A cat picks up the ball", "The cats picked the balls up", "The ball is being picked up"]
    )
    assert {entry.name for entry in found.lexicon} == {"cat", "ball", "picked-up"}


def test_people_are_one_kind_and_a_lexicon_file_adds_to_it():
    texts = ["A man waves.", "A woman walks.", "She stops.", "A nurse walks."]
    found = infer_lexicon(texts, parse_lexicon("person : noun : person | nurse"))
    assert [s.meaning.split()[0] for said in found.sentences for s in said] == ["person(p0)"] * 4
    apart = infer_lexicon(texts[:2])
    assert _inferred(apart.lexicon)["person"] == ("noun", 1, ("person", "man", "woman"))


def test_pronouns_stand_for_the_nearest_noun_of_the_same_video():
    texts = ["A man takes the bottle.", "He puts it back.", "The dog runs.", "It stops."]
    found = infer_lexicon(texts, videos=["a", "a", "b", "b"])
    meanings = [said[0].meaning for said in found.sentences]
    assert meanings[1] == "man(p0) puts-back(p0,p1) bottle(p1)"
    assert meanings[3] == "dog(p0) stops(p0)"
    assert found.guesses == ("He = man".lower(), "it = bottle", "it = dog")


def test_a_word_that_occurs_once_in_an_odd_place_stays_unknown():
    texts = ["A man opens the door.", "A man closes the door.", "A man in a grey flurb waves."]
    found = infer_lexicon(texts)
    assert found.unknown == ("flurb",)
    assert "flurb" not in {entry.name for entry in found.lexicon}
    assert found.ignored == ("in grey flurb",)


def test_verbs_that_are_used_alike_are_proposed_and_stay_two():
    texts = [
        f"A man {verb} the {thing} on the table"
        for verb in ("places", "puts")
        for thing in ("cup", "box", "pan")
    ]
    found = infer_lexicon(texts)
    assert found.synonyms == ("place ~ put",)
    assert {"places", "puts"} <= {entry.name.split("-")[0] for entry in found.lexicon}


def test_where_all_happens_is_no_part_of_a_verb():
    at_a_table = [
        f"A woman {verb} the {thing} on the table"
        for verb in ("picked up", "placed", "opened")
        for thing in ("cup", "bowl")
    ]
    poured = ["A woman poured the milk into the bowl", "A woman placed the milk into the bowl"]
    by_hand = ["A woman held the cup with her left hand"]
    found = infer_lexicon([*at_a_table, *poured, *by_hand])
    verbs = {entry.name: entry.arity for entry in found.lexicon if entry.part == "verb"}
    assert verbs == {"picked-up": 2, "placed": 2, "opened": 2, "poured-into": 3, "held": 2}
    assert {"on table", "into bowl", "with left hand"} <= set(found.ignored)
    # Nothing can be learned of what is only named there.
    assert not {"table", "hand"} & {entry.name for entry in found.lexicon}


def test_a_given_lexicon_reads_other_frames_of_its_verbs():
    given = infer_lexicon(["A man picks up the cup", "A man pours milk into the cup"]).lexicon
    found = infer_lexicon(["A man picked the cup up from the shelf", "A man took the cup"], given)
    assert [finding.entry.name for finding in found.findings] == ["took"]
    assert found.sentences[0][0].meaning == "man(p0) picks-up(p0,p1) cup(p1)"


def test_what_teaches_nothing_or_too_much_is_left_out():
    good = "The person approached the backpack quickly."
    crowd = "a man and " * 19 + "a man picked up the backpack"
    found = infer_lexicon([good, "The of and to in a", crowd])
    assert [len(said) for said in found.sentences] == [1, 0, 0]
    assert "names nothing" in found.unread[0][1]
    assert "expected up to 8 people and things" in found.unread[1][1]
    assert "in" not in found.lexicon


def test_how_long_and_how_often_are_no_words_to_learn():
    texts = ["After a few seconds the man looks up.", "The man looks up every few seconds."]
    found = infer_lexicon([*texts, "The man walks slowly for two minutes."])
    assert {e.name for e in found.lexicon} == {"man", "looks-up", "walks", "slowly"}
    assert set(found.ignored) == {"after a few seconds", "every few seconds", "for two minutes"}
