"""Putting meanings into words: every sentence of the grammar reads back to itself."""

from itertools import islice, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordsight.errors import WordsightError
from wordsight.language import (
    LanguageError,
    default_lexicon,
    enumerate_sentences,
    parse,
    parse_lexicon,
    realise,
    sentence_of,
)
from wordsight.records import Sentence, Word

WIDE = default_lexicon().extended(
    parse_lexicon("""
        red : adjective
        big : adjective
        ate : verb (agent)
        placed : verb (agent, patient)
        placed-in : verb (agent, patient, goal) : placed _ in _
        in : spatial-preposition
        between : spatial-preposition (any, referent, referent) : between _ and _
        leftward : direction
    """).entries
)


@pytest.mark.slow
def test_enumerated_sentences_read_back():
    for sentence in islice(enumerate_sentences(max_participants=4), 0, 12_000, 401):
        assert parse(sentence.text) == sentence
        assert realise(sentence) == sentence.text


NAMES = [e.name for e in WIDE if e.arity == 1 and e.part != "noun"]
RELATIONS = [e.name for e in WIDE if e.arity == 2]


@given(
    st.lists(st.sampled_from(["person", "chair", "stool"]), min_size=1, max_size=4),
    st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 3)), max_size=3),
    st.lists(
        st.tuples(st.sampled_from(RELATIONS), st.integers(0, 3), st.integers(0, 3)), max_size=3
    ),
)
def test_any_meaning_is_said_exactly_or_refused(nouns, singles, pairs):
    words = [Word(noun, (p,)) for p, noun in enumerate(nouns)]
    words += [Word(name, (p % len(nouns),)) for name, p in singles]
    words += [Word(name, (p % len(nouns), q % len(nouns))) for name, p, q in pairs]
    try:
        text = realise(Sentence("", tuple(words)), WIDE)
    except LanguageError:
        return
    told = parse(text, WIDE)
    assert sorted(w.entry for w in told.words) == sorted(w.entry for w in words)
    assert any(
        sorted(told.words, key=str) == sorted(_renumbered(words, order), key=str)
        for order in _orders(len(nouns))
    )


def _orders(size):
    return permutations(range(size))


def _renumbered(words, order):
    return [Word(w.entry, tuple(order[p] for p in w.participants)) for w in words]


TEXTS = [
    # two relations of one thing
    "The person to the left of the chair and to the right of the stool ate.",
    # a namesake
    "The person approached another person.",
    # a second mention
    "The person to the left of the chair approached the chair.",
    # three roles, adjectives, direction
    "The red person placed the big chair in the stool leftward.",
    # three places of a preposition, no verb
    "The person is between the chair and the stool.",
    # unnamed
    "Something approached the chair.",
    "There is a red chair.",
]


@pytest.mark.parametrize("text", TEXTS)
def test_canonical_text_is_kept(text):
    sentence = parse(text, WIDE)
    assert realise(sentence, WIDE) == text
    assert sentence_of(sentence.words, WIDE) == sentence


REFUSED = [
    # two verbs
    ("ate(p0) ate(p0)", "one verb"),
    # an adverb of what is not the subject
    ("ate(p0) chair(p1) quickly(p1)", "subject"),
    # nothing connects the chair
    ("person(p0) ate(p0) chair(p1)", "not connected"),
    # one thing with two names
    ("person(p0) chair(p0) ate(p0)", "both"),
    # would be heard as placed-in
    ("person(p0) placed(p0,p1) chair(p1) in(p1,p2) stool(p2)", "parsed differently"),
    # wrong number of participants
    ("ate(p0,p1)", "roles"),
    # a word outside the lexicon
    ("flew(p0)", "no entry"),
]


@pytest.mark.parametrize(("meaning", "says"), REFUSED)
def test_unsayable_meanings_are_refused(meaning, says):
    words = []
    for piece in meaning.split():
        name, _, rest = piece.partition("(")
        words.append(Word(name, tuple(int(p[1:]) for p in rest.rstrip(")").split(","))))
    with pytest.raises(WordsightError, match=says):
        realise(words, WIDE)
