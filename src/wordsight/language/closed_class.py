"""English words that belong to no corpus in particular, for guessing the rest of a lexicon.

Prepositions, directions and the plain words for colour, size and shape are few and known
beforehand; what they mean is still learned.
"""

from wordsight.language.grammar import FUNCTION_WORDS

__all__ = [
    "AUXILIARIES",
    "CLAUSE_WORDS",
    "COPULAS",
    "DESCRIPTIVE_ADJECTIVES",
    "DETERMINERS",
    "DIRECTIONS",
    "PARTICLES",
    "PATH_PREPOSITIONS",
    "PLACE_PREPOSITIONS",
    "PREPOSITIONS",
    "PRONOUNS",
]

DETERMINERS = frozenset((*FUNCTION_WORDS["the"], *FUNCTION_WORDS["new"]))
PRONOUNS = frozenset(FUNCTION_WORDS["pronoun"])
COPULAS = frozenset(FUNCTION_WORDS["copula"])
AUXILIARIES = frozenset((*FUNCTION_WORDS["copula"], *FUNCTION_WORDS["perfect"]))


def _phrases(text: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase.split()) for phrase in text.split(","))


PLACE_PREPOSITIONS = _phrases(
    "to the left of,to the right of,on the left of,on the right of,left of,right of,in front of,"
    "at the back of,on top of,next to,close to,far from,behind,beside,near,above,below,beneath,"
    "under,underneath,inside,outside,opposite"
)
"""Prepositions that say where a thing is."""

PATH_PREPOSITIONS = _phrases(
    "towards,toward,away from,along,past,around,across,through,up to,out of"
)
"""Prepositions that say where a movement goes."""

PREPOSITIONS = (
    PLACE_PREPOSITIONS
    | PATH_PREPOSITIONS
    | _phrases(
        "in,into,on,onto,from,with,for,to,at,over,off,out,up,down,away,back,by,of,against,about,"
        "after,without,between,upon,within"
    )
)
"""All of them, with the particles of verbs such as "picked up"."""

DIRECTIONS = _phrases(
    "to the left,to the right,from the left,from the right,leftward,leftwards,rightward,"
    "rightwards,upward,upwards,downward,downwards,forward,forwards,backward,backwards"
)

DESCRIPTIVE_ADJECTIVES = frozenset(
    word
    for (word,) in _phrases(
        "black,white,red,green,yellow,blue,brown,orange,pink,purple,grey,gray,violet,beige,"
        "big,small,large,little,tiny,huge,long,short,tall,wide,narrow,thick,thin,"
        "round,square,flat"
    )
)
"""Words before a noun that say how a thing looks, and are not half of its name."""

PARTICLES = frozenset(("up", "down", "off", "out", "away", "back", "over"))
"""Words after a verb that do not turn its object into a place: "picked up the cup"."""

CLAUSE_WORDS = frozenset(
    [
        "and",
        "or",
        "but",
        "nor",
        "then",
        "while",
        "when",
        "until",
        "because",
        "if",
        "than",
        "who",
        "whom",
        "whose",
        "which",
        "not",
        "never",
        "no",
        "nothing",
        "nobody",
        "do",
        "does",
        "did",
    ]
)
"""Words that join clauses or deny them: a sentence with one shows little about its other words."""
