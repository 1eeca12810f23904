"""Facts learned from what is said, without labels."""

import itertools

import numpy as np
import pytest

from tests.states.builders import HOLDING, carrying
from wordsight.errors import FormatError
from wordsight.states import Predicate, SentenceSettings, StateError, TimedSentence, facts_said
from wordsight.states.discovery.sentences import spoken_roles
from wordsight.states.labels import read_timed_sentences

FILMS = [carrying(f"film{k}", k) for k in range(6)]
SEEN, TRUTH = [film[0] for film in FILMS], [film[1] for film in FILMS]
ATTACHED = Predicate("attached", ("hand", "block"))


def said_of(truth):
    """The hand carries one thing, and looks at the other before and after that."""
    (row,) = [row for row in truth.intervals() if row.fact.predicate == "attached"]
    return [
        TimedSentence(0.0, row.start, "The hand looked at the green."),
        TimedSentence(row.start, row.end, f"The hand carried the {row.fact.arguments[1]}"),
        TimedSentence(row.end, 9.0, "the hand looked at the green"),
    ]


def test_what_is_carried_is_held_and_what_is_looked_at_is_not():
    found = facts_said(ATTACHED, SEEN, [said_of(t) for t in TRUTH], HOLDING)
    right = [t.table(s.facts) == s.values for t, s in zip(TRUTH, found.states, strict=True)]
    assert np.mean(np.concatenate([r.ravel() for r in right])) > 0.95
    holds = {role.words: role.holds for role in found.roles}
    assert holds["_ carried"] > 0.9 > 0.3 > holds["_ looked at"]
    # Words are believed from a certain round on; before and after it the objective rises.
    first = SentenceSettings().listening
    for part in (found.history[:first], found.history[first:]):
        assert all(b > a - 1e-4 for a, b in itertools.pairwise(part))


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("The hand put the red on the green", {"red": "_ put", "green": "_ put _ on"}),
        ("A red was moved by the hand.", {"red": "* was moved by", "hand": "_ was moved by"}),
        ("Nothing happened", {}),
        ("It moved the cup", {"cup-1": "it moved", "cup-2": "it moved"}),
        ("It moved cup-2", {"cup-2": "it moved"}),
    ],
)
def test_roles_are_the_words_before_a_thing(text, roles):
    found = spoken_roles(text, ["hand", "red", "green", "cup-1", "cup-2"])
    assert {name: found.get(name) for name in roles} == roles
    assert set(found) - set(roles) <= {"hand"}


def test_what_cannot_be_learned_from_is_refused():
    lines = [said_of(truth) for truth in TRUTH]
    with pytest.raises(StateError, match="kinds"):
        facts_said(Predicate("attached", ("robot", "block")), SEEN, lines, HOLDING)
    with pytest.raises(StateError, match="mentions"):
        silent = [[TimedSentence(0.0, 1.0, "nothing")] for _ in SEEN]
        facts_said(ATTACHED, SEEN, silent, HOLDING)
    with pytest.raises(StateError, match="probabilities"):
        SentenceSettings(mentioned=1.0)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("video,start,end\nfilm,0,1\n", "sentence is missing"),
        ("video,start,end,sentence\nfilm,2,1,The hand moved the red\n", "line 2.*before it ends"),
        ("video,start,end,sentence\nfilm,soon,1,The hand moved the red\n", "numbers of seconds"),
        ("video,start,end,sentence\nfilm,0,1,\n", "there is no sentence"),
        ("video,start,end,sentence\n", "no sentences"),
    ],
)
def test_tables_of_sentences_that_make_no_sense_are_refused(tmp_path, text, problem):
    (tmp_path / "said.csv").write_text(text)
    with pytest.raises(FormatError, match=problem):
        read_timed_sentences(tmp_path / "said.csv")


def test_a_sentence_may_hold_commas(tmp_path):
    (tmp_path / "said.csv").write_text("video,start,end,sentence\nfilm,0,1.5,First, it moved\n")
    assert read_timed_sentences(tmp_path / "said.csv") == {
        "film": [TimedSentence(0.0, 1.5, "First it moved")]
    }
