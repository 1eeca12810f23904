"""What has been read of a text so far, and what may follow it: costs and ends of clauses."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from wordsight.language.english.words import (
    GIVING,
    OBJECT_VERBS,
    OF_THINGS,
    base_form,
    is_continuous,
    is_known,
    is_participle,
    is_plural,
    kind_of,
)
from wordsight.language.tokens import Piece
from wordsight.records import BODY_PARTS

__all__ = [
    "AFTER_RELATIVE",
    "SUBJECT_PRONOUNS",
    "SUBORDINATE",
    "Tagged",
    "cost_of_compound",
    "cost_of_form",
    "ends_participle",
    "ends_relative",
    "ends_subordinate",
    "is_marked",
    "only_exists",
    "without_joined_manners",
]

SUBORDINATE = frozenset(["before", "after", "while", "when"])
SUBJECT_PRONOUNS = frozenset(["he", "she", "they", "we", "i", "you"])
AFTER_RELATIVE = ("n1", "v", "w", "r1")
"""States after which the clause around a relative one may go on."""


@dataclass(frozen=True)
class Tagged:
    """A piece with the use it has in the text, and the state after it."""

    piece: Piece
    tag: str
    state: str

    @property
    def text(self) -> str:
        """The words of the piece."""
        return self.piece.text


def cost_of_compound(word: str, path: tuple[Tagged, ...]) -> float:
    """Return what it costs that two words are a subject and its verb, not one noun."""
    noun, bare = path[-1].text, len(path) == 1 or path[-2].tag not in "DQJ"
    if is_continuous(noun) and bare:
        return 1.5  # "washing machine"
    lemma = base_form(noun, "N")
    acts = kind_of(lemma) == "person" or lemma in BODY_PARTS or is_plural(noun)
    plain = base_form(word, "V") == word and is_known(word, "V") and is_known(noun, "N")
    return 0.8 if bare and plain and not acts else 0.0  # "blue sky", but "woman pick up box"


_OPEN = ("z0", "d2", "n2", "r2", "B")


def only_exists(path: tuple[Tagged, ...]) -> bool:
    """Whether a clause has said no more than "there is a man"."""
    opened = max((n for n, item in enumerate(path) if item.tag == "E"), default=len(path))
    return opened < len(path) and not any(item.tag in "VC" for item in path[opened:])


def ends_subordinate(state: str, word: str, path: tuple[Tagged, ...]) -> bool:
    """Whether the main clause may begin, without a comma, after one that stands first."""
    if not path or path[0].text not in SUBORDINATE or any(t.tag == "C" for t in path[1:]):
        return False
    verbs = [base_form(t.text, "V") for t in path if t.tag == "V"]
    if state == "n1":
        return len(verbs) == 1 and verbs[0] not in GIVING and path[-1].tag in "NP"
    return state in ("v", "w") and bool(verbs) and word in SUBJECT_PRONOUNS


def is_marked(path: tuple[Tagged, ...]) -> bool:
    """Whether the noun phrase that was just read has a determiner."""
    words = (item.tag for item in reversed(path) if item.tag not in "NJ")
    return next(words, "") in "DQ"


def ends_relative(path: tuple[Tagged, ...]) -> bool:
    """Whether a relative clause about the subject has its verb, so that the main one may follow."""
    opening = (n for n in range(len(path) - 1, -1, -1) if path[n].state in _OPEN)
    opened = next(opening, -1)
    verbs = [n for n in range(opened + 1, len(path)) if path[n].tag == "V"]
    if len(verbs) != 1:
        return False
    if opened >= 0 and path[opened].state != "B":
        # "The van he got out of is red": its preposition may stand at its end.
        return path[-1].state != "r1" or path[opened].state == "n2"
    if path[-1].state == "r1":
        return False
    # "A man holding a cup walks away", "a man being followed by a dog starts to run"
    first = verbs[0] - (verbs[0] > 0 and path[verbs[0] - 1].text == "being")
    before = path[first - 1].tag if first else ""
    return before == "N" and path[-1].tag != "V" and is_continuous(path[first].text)


def ends_participle(path: tuple[Tagged, ...]) -> bool:
    """Whether a subject was followed by a participle that says what is done to it."""
    opened = max((n for n, item in enumerate(path) if item.tag == "C"), default=-1)
    verbs = [n for n in range(opened + 1, len(path)) if path[n].tag in "VXHM"]
    if len(verbs) != 1 or path[verbs[0] - 1].tag != "N" or len(path) == verbs[0] + 1:
        return False
    verb, following = path[verbs[0]].text, path[verbs[0] + 1 :]
    if is_continuous(verb) or not is_participle(verb) or following[0].tag not in "RTL":
        return False
    by = any(item.text == "by" for item in following)
    objects = any(a.tag != "R" and b.tag in "DQ" for a, b in pairwise(following))
    return not objects and (by or base_form(verb, "V") in OBJECT_VERBS | OF_THINGS)


def cost_of_form(state: str, word: str) -> float:
    """Return what the form of a verb costs after a state."""
    if state[0] in "dr" or state in ("b0", "n1"):
        return 0.0 if is_continuous(word) or (state != "r1" and is_participle(word)) else 2.0
    return 0.4 if state in ("n0", "B") and is_continuous(word) else 0.0


_MANNER = "AG"
_CLAUSE_BEGINS = "VXHMDQJNPE"


def without_joined_manners(path: Sequence[Tagged]) -> list[Piece]:
    """Return the pieces without each "and" that joins two adverbs: "quickly and quietly".

    In "he stood quietly and quickly left" the second adverb begins another clause, so "and" stays.
    """
    return [item.piece for number, item in enumerate(path) if not _joins_manners(path, number)]


def _joins_manners(path: Sequence[Tagged], number: int) -> bool:
    before, after = path[:number], path[number + 1 :]
    if path[number].text != "and" or not before or not after:
        return False
    if before[-1].tag not in _MANNER or after[0].tag not in _MANNER:
        return False
    clause = takewhile(lambda item: item.tag != "C", reversed(before))
    following = next((item.tag for item in after if item.tag not in _MANNER), "C")
    return following not in _CLAUSE_BEGINS or not any(item.tag == "V" for item in clause)
