"""Reading sentences: the paper's example, every variant of saying it, and what is refused."""

import pytest

from wordsight.language import (
    AmbiguityError,
    LanguageError,
    UnknownWordError,
    default_lexicon,
    parse,
    parse_lexicon,
)

MEANINGS = [
    # the example of the paper: one word of every part of speech
    (
        "The person to the left of the backpack carried the trash-can towards the chair.",
        "person(p0) to-the-left-of(p0,p1) backpack(p1) carried(p0,p2) trash-can(p2) "
        "towards(p0,p3) chair(p3)",
    ),
    # hyphen or space, no article, no full stop, capitals
    ("PERSON put down trash can", "person(p0) put-down(p0,p1) trash-can(p1)"),
    # a particle verb split around its object
    ("The person picked the stool up.", "person(p0) picked-up(p0,p1) stool(p1)"),
    # an adverb before the verb reads like one at the end
    (
        "A person, slowly, approached the chair!",
        "person(p0) approached(p0,p1) chair(p1) slowly(p0)",
    ),
    # adverb and motion preposition in either order
    (
        "The person carried the stool away from the chair quickly",
        "person(p0) carried(p0,p1) stool(p1) quickly(p0) away-from(p0,p2) chair(p2)",
    ),
    # passive with and without the one who acts
    (
        "The stool was picked up by the person.",
        "person(p0) picked-up(p0,p1) stool(p1)",
    ),
    (
        "The stool was carried towards the chair.",
        "carried(p0,p1) stool(p1) towards(p0,p2) chair(p2)",
    ),
    # nested places: each is said of the nearest noun
    (
        "The person to the left of the chair to the right of the stool approached the backpack",
        "person(p0) to-the-left-of(p0,p1) chair(p1) to-the-right-of(p1,p2) stool(p2) "
        "approached(p0,p3) backpack(p3)",
    ),
    # two places of one thing
    (
        "The person to the left of the chair and to the right of the stool approached the backpack",
        "person(p0) to-the-left-of(p0,p1) chair(p1) to-the-right-of(p0,p2) stool(p2) "
        "approached(p0,p3) backpack(p3)",
    ),
    # the same noun phrase is the same participant
    (
        "The person to the left of the chair approached the chair",
        "person(p0) to-the-left-of(p0,p1) chair(p1) approached(p0,p1)",
    ),
    # ... but "another" is not, and nobody approaches themselves
    (
        "The person to the left of the chair approached another chair",
        "person(p0) to-the-left-of(p0,p1) chair(p1) approached(p0,p2) chair(p2)",
    ),
    ("The person approached the person", "person(p0) approached(p0,p1) person(p1)"),
    # no verb of the lexicon
    ("The chair is to the left of the stool.", "chair(p0) to-the-left-of(p0,p1) stool(p1)"),
    ("There is a chair.", "chair(p0)"),
    # an unnamed participant
    ("Something picked up the chair", "picked-up(p0,p1) chair(p1)"),
    # a relative clause
    (
        "The person who is to the left of the chair put the stool down",
        "person(p0) to-the-left-of(p0,p1) chair(p1) put-down(p0,p2) stool(p2)",
    ),
]


@pytest.mark.parametrize(("text", "meaning"), MEANINGS)
def test_meaning(text, meaning):
    sentence = parse(text)
    assert sentence.meaning == meaning
    assert sentence.text == text


WIDE = """
person : noun
box : noun
microwave : noun
cup : noun
milk : noun
orange-fruit : noun : orange
orange : adjective
big : adjective
in : spatial-preposition
between : spatial-preposition (any, referent, referent) : between _ and _
placed : verb (agent, patient)
placed-in : verb (agent, patient, goal) : placed _ in _
gave : verb (agent, goal, patient) : gave _ _
ate : verb (agent)
reached-for : verb (agent, goal) : reached for
leftwards : direction : leftwards | leftward | to the left
"""

WIDE_MEANINGS = [
    # a complement of the verb is preferred to a place of the object
    (
        "The person placed the box in the microwave",
        "person(p0) placed-in(p0,p1,p2) box(p1) microwave(p2)",
    ),
    ("The person placed the box", "person(p0) placed(p0,p1) box(p1)"),
    # a word with two uses is decided by where it stands
    (
        "The orange cup is between the box and the orange",
        "orange(p0) cup(p0) between(p0,p1,p2) box(p1) orange-fruit(p2)",
    ),
    # three roles without a preposition
    (
        "The person gave the big person the cup",
        "person(p0) gave(p0,p1,p2) big(p1) person(p1) cup(p2)",
    ),
    # no object, and a direction of several words
    ("The person ate to the left", "person(p0) ate(p0) leftwards(p0)"),
    ("The person was reached for by the cup", "cup(p0) reached-for(p0,p1) person(p1)"),
    # adjectives tell namesakes apart; a shorter mention speaks of the first that fits
    ("The big box in the cup is orange", "big(p0) orange(p0) box(p0) in(p0,p1) cup(p1)"),
]


@pytest.mark.parametrize(("text", "meaning"), WIDE_MEANINGS)
def test_meaning_with_a_wider_lexicon(text, meaning):
    assert parse(text, parse_lexicon(WIDE)).meaning == meaning


def test_unknown_words_are_shown_with_the_nearest_known():
    with pytest.raises(UnknownWordError) as caught:
        parse("The persom picked up the bakpack.")
    assert caught.value.words == ("persom", "bakpack")
    message = str(caught.value)
    assert "  The persom picked up the bakpack.\n      ^^^^^^\n" in message
    assert "nearest known: person" in message
    assert "nearest known: backpack" in message


REFUSED = [
    # nothing to read
    ("", "without a single word"),
    ("...", "without a single word"),
    # more than one sentence
    ("The person carried the chair. The stool approached.", "expected one sentence"),
    # a character that is no word
    ("The person carried the $ chair", "got '$'"),
    # the order is wrong: the caret stands under the first word that does not fit
    ("The person the chair carried", "up to 'the'"),
    # something is missing at the end
    ("The person carried the", "ends too early"),
    ("The person", "ends too early"),
]


@pytest.mark.parametrize(("text", "says"), REFUSED)
def test_refusals_say_why(text, says):
    with pytest.raises(LanguageError) as caught:
        parse(text)
    assert says in str(caught.value)


def test_caret_stands_under_the_misplaced_word():
    with pytest.raises(LanguageError) as caught:
        parse("The person the chair carried")
    assert str(caught.value).endswith("  The person the chair carried\n             ^^^")


def test_readings_no_rule_decides_between_are_shown():
    lexicon = default_lexicon().extended(
        parse_lexicon("near : spatial-preposition\nup-to : motion-preposition : near").entries
    )
    with pytest.raises(AmbiguityError) as caught:
        parse("The person approached the chair near the stool", lexicon)
    assert len(caught.value.readings) == 2
    assert any("near(p1,p2)" in reading for reading in caught.value.readings)
    assert any("up-to(p0,p2)" in reading for reading in caught.value.readings)
