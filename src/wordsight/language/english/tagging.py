"""Which use each word of a text has: the cheapest path through a small automaton of clauses.

States say what has been read of the current clause: nothing (``B``), a phrase that still needs its
noun (``d``), a noun (``n``), an auxiliary (``b`` for "be", ``h`` for others), a preposition
(``r``), "and" inside a phrase (``k``), a relative pronoun (``z``), "to" (``i``) or a verb (``v``);
0 stands for before the verb, 1 for after it, 2 for the subject of a relative clause ("the chair
that he carried"). Costs were set by hand.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log

from wordsight.errors import LanguageError
from wordsight.language.english.noun_signs import noun_signs
from wordsight.language.english.paths import (
    AFTER_RELATIVE,
    SUBJECT_PRONOUNS,
    SUBORDINATE,
    Tagged,
    cost_of_compound,
    cost_of_form,
    ends_participle,
    ends_relative,
    ends_subordinate,
    is_marked,
    only_exists,
)
from wordsight.language.english.words import (
    GIVING,
    LIGHT_VERBS,
    OBJECT_VERBS,
    PHRASAL,
    SEEN,
    base_form,
    is_continuous,
    is_function_word,
    is_known,
    uses_of,
)
from wordsight.language.glosses import language_of, open_uses
from wordsight.language.tokens import Piece, pieces_of, tokens_of

__all__ = [
    "CorpusUses",
    "tag",
    "uses_in_corpus",
]

_DONE = frozenset(["open", "close", "pour", "drop", "wear", "push", "pull", "use", "stir"])
_OBJECT_PRONOUNS = frozenset(["him", "her", "them", "me", "us"])


Uses = Callable[[str], Mapping[str, float]]


# Per state and tag: next state and cost. A tag that is missing cannot follow.
_NOUN_PHRASE = {"D": ("d", 0.0), "Q": ("d", 0.0), "J": ("d", 0.3), "N": ("n", 0.3), "P": ("n", 0.0)}


def _phrase(level: str, extra: float = 0.0) -> dict[str, tuple[str, float]]:
    return {tag: (state + level, cost + extra) for tag, (state, cost) in _NOUN_PHRASE.items()}


def _inside(level: str) -> dict[str, tuple[str, float]]:
    needs, has = f"d{level}", f"n{level}"
    return {
        "J": (needs, 0.0),
        "Q": (needs, 0.2),
        "D": (needs, 0.9),
        "A": (needs, 0.8),
        "N": (has, 0.0),
        "P": (has, 0.8),
        "V": (needs, 2.0),
        "K": (needs, 0.6),
        "C": ("B", 0.5),
    }


_AFTER_VERB: dict[str, tuple[str, float]] = {
    **_phrase("1"),
    "R": ("r1", 0.1),
    "T": ("v", 0.0),
    "A": ("v", 0.05),
    "G": ("v", 0.0),
    "L": ("v", 0.1),
    "O": ("v", 1.0),
    "C": ("B", 0.0),
    "I": ("i", 0.3),
    "V": ("v", 3.0),
    "E": ("v", 0.6),
}
_CLAUSE = {"V": ("v", 0.0), "X": ("b0", 0.0), "H": ("h0", 0.0), "M": ("h0", 0.0)}
_RELATIVE = _CLAUSE | _phrase("2", 0.2)
_MOVES: dict[str, dict[str, tuple[str, float]]] = {
    "B": {
        **_phrase("0"),
        "V": ("v", 1.2),
        "A": ("B", 0.1),
        "G": ("B", 0.5),
        "C": ("B", 0.1),
        "X": ("b0", 1.5),
        "H": ("h0", 1.5),
        "M": ("h0", 1.5),
        "O": ("B", 0.3),
        "R": ("r0", 0.6),
        "L": ("B", 0.6),
        "E": ("B", 0.2),
        "T": ("B", 2.0),
        "I": ("i", 1.2),
    },
    "d0": _inside("0"),
    "n0": {
        "N": ("n0", 1.2),
        "R": ("r0", 0.3),
        "X": ("b0", 0.0),
        "H": ("h0", 0.0),
        "M": ("h0", 0.0),
        "V": ("v", 0.0),
        "A": ("n0", 0.1),
        "O": ("n0", 0.2),
        "G": ("n0", 0.4),
        "L": ("n0", 0.1),
        "C": ("B", 1.0),
        "K": ("k0", 0.4),
        "Z": ("z0", 0.5),
        "T": ("n0", 2.0),
        "J": ("n0", 3.0),
    },
    "b0": {
        **_phrase("1", 1.0),
        "V": ("w", 0.0),
        "J": ("v", 0.2),
        "R": ("r1", 0.1),
        "G": ("v", 0.2),
        "L": ("v", 0.1),
        "A": ("b0", 0.1),
        "M": ("h0", 0.0),
        "O": ("b0", 0.0),
        "X": ("b0", 0.0),
        "T": ("v", 0.5),
        "E": ("v", 0.5),
    },
    "h0": {
        **_phrase("1", 1.5),
        "V": ("v", 0.0),
        "X": ("b0", 0.0),
        "H": ("h0", 0.2),
        "A": ("h0", 0.1),
        "O": ("h0", 0.0),
    },
    "r0": {**_phrase("0"), "V": ("v", 2.0)},
    "k0": _phrase("0"),
    "z0": _RELATIVE | {"O": ("z0", 0.2), "A": ("z0", 0.1)},
    "d2": _inside("2"),
    "n2": {**_CLAUSE, "N": ("n2", 1.2), "A": ("n2", 0.1), "O": ("n2", 0.2), "R": ("r2", 0.5)},
    "r2": _phrase("2"),
    "v": _AFTER_VERB,
    # After a passive, or a particle behind the object, another object is unusual.
    "w": {**_AFTER_VERB, **_phrase("1", 1.0), "T": ("w", 0.0)},
    "d1": _inside("1"),
    "n1": {
        **_phrase("1", 0.7),
        "N": ("n1", 1.0),
        "R": ("r1", 0.0),
        "T": ("w", 0.0),
        "A": ("v", 0.05),
        "G": ("v", 0.0),
        "L": ("n1", 0.1),
        "C": ("B", 0.0),
        "K": ("k1", 0.3),
        "Z": ("z1", 0.5),
        "V": ("v", 2.5),
        "X": ("b0", 3.0),
        "J": ("v", 2.0),
        "I": ("i", 0.6),
        "O": ("n1", 1.5),
        "E": ("v", 0.6),
    },
    "r1": {**_phrase("1"), "V": ("v", 0.6)},
    "k1": _phrase("1"),
    "z1": _RELATIVE | {"O": ("z1", 0.2), "A": ("z1", 0.1)},
    "i": {"V": ("v", 0.0)},
}
_ENDS = {"v": 0.0, "w": 0.0, "n1": 0.0, "n0": 1.0, "B": 1.0, "d0": 2.0, "d1": 0.8, "r1": 1.5} | {
    "b0": 3.0
}
_END = 5.0  # in any other state
_MARKS = {",": {"C": 0.2, "K": 0.6, "U": 0.4}, ";": {"C": 0.0}, ":": {"U": 0.0, "C": 0.2}}
_SENTENCE_END = frozenset(".!?…")


def tag(pieces: list[Piece], uses: Uses = uses_of) -> tuple[list[Tagged], float]:
    """Return the cheapest uses of the pieces of a text, and their cost."""
    best: dict[str, tuple[float, tuple[Tagged, ...]]] = {"B": (0.0, ())}
    for number, piece in enumerate(pieces):
        last = number == len(pieces) - 1
        following: dict[str, tuple[float, tuple[Tagged, ...]]] = {}
        leads = number == 0 and _leads(pieces)
        for use, own in {"V": 0.0}.items() if leads else _uses(piece, uses, last=last).items():
            for state, (cost, path) in best.items():
                move = (state, 0.0) if use == "U" else _move(state, use, piece.text, path)
                if move is None:
                    continue
                total = cost + own + move[1]
                if move[0] not in following or total < following[move[0]][0]:
                    following[move[0]] = total, (*path, Tagged(piece, use, move[0]))
        best = following
    state = min(best, key=lambda s: best[s][0] + _ENDS.get(s, _END))
    return list(best[state][1]), best[state][0] + _ENDS.get(state, _END)


def _leads(pieces: list[Piece]) -> bool:
    """Whether a text begins with a clause without a subject: "Wearing gloves, she opens it"."""
    first = pieces[0].text
    if not is_continuous(first) or len(pieces) == 1:
        return False
    done = base_form(first, "V") in OBJECT_VERBS | _DONE  # "opening door", not "moving car"
    return done or any(piece.text == "," for piece in pieces)


def _uses(piece: Piece, uses: Uses, *, last: bool) -> Mapping[str, float]:
    if piece.is_word:
        if piece.text.endswith("'s"):
            return {"D": 0.2, "U": 4.0}
        return uses(piece.text)
    if piece.text in _SENTENCE_END:
        return {"U": 0.0} if last else {"C": 0.0, "U": 2.0}
    return _MARKS.get(piece.text, {"U": 0.0})


def _move(state: str, use: str, word: str, path: tuple[Tagged, ...]) -> tuple[str, float] | None:
    move = _MOVES[state].get(use)
    if path and path[-1].tag == "Q" and state[0] == "d" and word == "of":
        move = f"r{state[1]}", 0.1  # "three of them"
    if use == "D" and state[0] == "d" and word.endswith("'s"):
        move = state, 0.1  # "her father's shoulders"
    if use in ("D", "P") and ends_subordinate(state, word, path):
        return ("d0" if use == "D" else "n0"), 0.5  # "after opening the door the man left"
    if state in ("n0", "n1") and use == "P" and word in SUBJECT_PRONOUNS and is_marked(path):
        return "n2", 0.7  # "the bottle he dropped"
    if state == "n0" and use == "D" and is_marked(path) and not is_continuous(path[-1].text):
        return "d2", 1.0  # "the box the man carried"
    if use in "XHM" and state in AFTER_RELATIVE and ends_relative(path):
        return ("b0" if use == "X" else "h0"), 0.0
    if move is None:
        return None
    after, cost = move
    if state == "n0" and use in "VXHM" and path[-1].text in _OBJECT_PRONOUNS:
        cost += 2.0  # "her coat", not "her" who coats
    if state == "n0" and use == "V" and path[-1].tag == "N":
        cost += cost_of_compound(word, path)
    if use == "T" and state == "n1" and path[-2].tag == "K" and is_marked(path[:-2]):
        cost += 1.5 * is_known(path[-1].text, "V")  # "grabs her keys and heads out"
    if use == "T" and state == "v" and path[-1].tag == "V":
        cost -= 0.8 * (base_form(path[-1].text, "V") in PHRASAL.get(word, ()))
    if use == "V":
        cost += cost_of_form(state, word)
        if state == "h0" and path[-1].tag == "M" and base_form(word, "V") != word:
            cost += 2.0  # "can approached" is no modal
        if state == "b0" and is_continuous(word):
            after = "v"
        if state == "n1" and is_continuous(word) and only_exists(path):
            return after, 0.0
        if state == "n1" and is_continuous(word) and path[-1].tag == "N" and is_marked(path):
            cost -= 1.7  # "looks at the woman sitting there"
        if state == "i" and len(path) > 1 and base_form(path[-2].text, "V") in LIGHT_VERBS:
            cost -= 0.3 * (path[-2].text[:2] != "go")  # "starts to cry", but "goes to school"
        if state in AFTER_RELATIVE and ends_relative(path):
            plain = base_form(word, "V") == word and is_known(word, "N")
            return after, 1.0 * plain  # "dog jumping over fence"
        if state in ("n1", "w") and ends_participle(path) and base_form(word, "V") != word:
            return after, 0.3  # "the car parked at the corner drives off"
        if state == "w" and is_continuous(word) and base_form(path[-1].text, "V") in SEEN:
            return "v", 0.0  # "is seen leaving"
        if state == "v" and is_continuous(word) and path[-1].tag == "V":
            light = base_form(path[-1].text, "V") in LIGHT_VERBS
            return after, 0.0 if light else 0.6  # "starts walking"
        if path and path[-1].text == "without" and not is_continuous(word):
            cost += 3.0  # "a car without lights"
        if state == "B" and path and path[-1].text in SUBORDINATE:
            cost += -1.2 if is_continuous(word) else 2.0  # "before leaving", "after lunch"
        if state == "B" and any(t.tag == "V" for t in path):
            cost -= 1.0  # the subject of a later clause may be left out
    elif state == "B" and use in "XHM" and path:
        cost -= 1.0
    elif use in "DQ" and state == "w" and base_form(path[-1].text, "V") in GIVING:
        cost -= 1.0  # "he was given a plate"
    elif use in "PD" and word in ("who", "which") and path[-1:]:
        cost += 1.5 * (path[-1].text == ",")  # "the man, who": it is about the man
    elif use == "N" and state in ("n0", "n1") and path[-1].tag == "P":
        cost += 1.5  # no compound begins with a pronoun
    return after, cost


@dataclass(frozen=True)
class CorpusUses:
    """How the words of a corpus are used.

    Attributes:
        base: The uses of words by themselves.
        counts: Per word how often it has which use.
        phrases: Words to keep together; those that are nouns of the corpus among them.
        pairs: Nouns of two words.
        language: Whose function words the corpus has; English if None.
        tags: Uses between which the corpus decides.
    """

    base: Uses
    counts: Mapping[str, Counter[str]]
    phrases: frozenset[tuple[str, ...]]
    pairs: frozenset[tuple[str, ...]] = frozenset()
    language: str | None = None
    tags: str = "NVJM"

    def __call__(self, word: str) -> Mapping[str, float]:
        """Return the uses of a word; those that are usual in the corpus are cheaper."""
        if tuple(word.split()) in self.pairs:
            return {"N": -1.0, "U": 4.0}
        found, own = self.base(word), self.counts.get(word)
        if own is None or sum(tag in found for tag in self.tags) < 2:
            return found
        total = sum(own[tag] for tag in self.tags) + len(self.tags)
        return {
            tag: cost - log((own[tag] + 1) / total) / 2 if tag in self.tags else cost
            for tag, cost in found.items()
        }


_ROUNDS = 2
_FEW_WORDS = 5  # different words below which a corpus is taken for English
_PAIR = 0.8  # share of the places of two words next to each other in which both are nouns


def _is_foreign(texts: Iterable[str]) -> bool:
    """Whether most words of a corpus are in no English dictionary, and few are function words."""
    words = {token for text in texts for token in tokens_of(text) if token[0].isalpha()}
    known = sum(is_function_word(w) or any(is_known(w, tag) for tag in "NVJA") for w in words)
    return len(words) >= _FEW_WORDS and 2 * known < len(words)


def uses_in_corpus(
    texts: Iterable[str], base: Uses, phrases: frozenset[tuple[str, ...]] = frozenset()
) -> CorpusUses:
    """Learn how a corpus uses its words.

    It is tagged, uses are counted, and those that are usual become cheaper, twice over: "plate"
    after "on" is a noun, so it is one in "place plate"; "trash can" is mostly two nouns, so it is
    one name everywhere.
    """
    texts = list(dict.fromkeys(texts))
    language = language_of([token for text in texts for token in tokens_of(text)])
    current = CorpusUses(base, {}, phrases, language=language)
    if language is not None or _is_foreign(texts):
        # Any word may be anything, adverbs included, which no ending marks.
        signs = noun_signs(texts, language)
        base = open_uses(base, signs.nouns, signs.others)
        current = replace(current, base=base, tags="NVJMA")
    for _ in range(_ROUNDS):
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        pairs: Counter[tuple[str, ...]] = Counter()
        nouns: Counter[tuple[str, ...]] = Counter()
        for text in texts:
            try:
                tagged = tag(pieces_of(text, current.phrases, language), current)[0]
            except LanguageError:
                continue
            for item in tagged:
                counts[item.text][item.tag] += 1
            for one, other in pairwise(tagged):
                pair = (one.text, other.text)
                pairs[pair] += 1
                nouns[pair] += one.tag == other.tag == "N"
        named = current.pairs | {p for p, n in nouns.items() if n > 1 and n >= _PAIR * pairs[p]}
        current = replace(current, counts=counts, phrases=phrases | named, pairs=frozenset(named))
    return current
