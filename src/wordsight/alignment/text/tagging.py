"""Part-of-speech tagging by rules, and the nouns and verbs of a sentence.

Instructions are mostly imperatives, so a clause that begins with a content word begins with a verb.
Everything else follows from closed word lists and the neighbours of a word.
"""

import re
from dataclasses import dataclass

__all__ = [
    *("TaggedWord", "base_form", "can_name_thing", "nouns_and_verbs", "plain_name", "singular"),
    "tag",
]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DETERMINERS = _words(
    "a an the this that these those each every both all another any some no either neither "
    "its your their his her our my whichever whatever remaining other same enough several few "
    "many more most much"
)
PREPOSITIONS = _words(
    "of in into on onto to from with without for at by off out over under above below beneath "
    "between among through throughout during before after until till against along around "
    "across behind beside besides near next inside outside within toward towards up down about "
    "as than via per upon like except onto underneath alongside"
)
PRONOUNS = _words(
    "it they them he she you we i me us him itself themselves yourself one ones none everything "
    "anything something nothing everyone anyone someone which who whom whose what there here"
)
CONJUNCTIONS = _words(
    "and or but then so if when while because since unless once whenever wherever where whether "
    "though although that yet nor plus"
)
AUXILIARIES = _words(
    "is are was were be been being am has have had having do does did will would shall should "
    "can could may might must need needs 'll 's 're 've isn't aren't wasn't don't doesn't cannot "
    "can't won't let"
)
OTHER_FUNCTION_WORDS = _words(
    "not only just also again back aside away together apart very too almost until now later "
    "soon first second third finally next last then approximately about roughly ca twice thrice "
    "overnight well still even ever never always often possible necessary needed sure ready "
    "please e.g i.e etc vs tbd meanwhile afterwards otherwise instead once half forward upright "
    "sideways upside downward upward downwards upwards clockwise counterclockwise halfway off"
)
ADJECTIVES = _words(
    "small large big tiny long short tall wide narrow thick thin high low deep shallow hot cold "
    "warm cool dry wet clean dirty full empty open closed new old fresh good bad right left top "
    "upper lower front rear round flat sharp blunt soft hard heavy light dark bright clear pale "
    "red green blue yellow white black brown grey gray orange purple pink golden plastic metal "
    "wooden sterile serological original total final initial whole entire equal even smooth "
    "rough fine coarse raw ripe ice-cold lukewarm remaining extra spare main single double free "
    "gentle slow quick careful thorough stable tight loose correct appropriate suitable desired"
)
UNITS = _words(
    "g mg kg ug µg μg ng l ml ul µl μl dl cl m cm mm um µm μm nm km mol mmol mm umol µmol M mM "
    "s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week weeks "
    "rpm xg °c °f c f k celsius celcius fahrenheit degree degrees percent % cup cups tbsp tsp "
    "tablespoon tablespoons teaspoon teaspoons oz ounce ounces lb lbs pound pounds inch inches "
    "ft foot feet w watt watts v volt volts nm psi bar pa kpa hz x times fold litre litres liter "
    "liters gram grams milligram milligrams millilitre millilitres milliliter milliliters "
    "microlitre microlitres microliter microliters metre metres meter meters"
)
VAGUE_NOUNS = _words(
    "step steps piece pieces bit bits part parts amount amounts quantity volume time times "
    "number way order end middle outside inside bottom top side sides edge edges rest "
    "temperature location kind sort level instance case care use date half place"
)
"""Nouns that do not name a thing a hand could touch."""

VERBS = _words(
    "add adjust agitate aim align aliquot allow apply arrange ask aspirate assemble attach avoid "
    "bake balance bang batter beat begin bend bind blend blot boil bolt bore break bring brown "
    "brush buff build burn butter button calibrate cap carry carve catch centrifuge change check "
    "chill choose chop clamp clean clear clip close coat collect combine connect continue cook "
    "cool count cover crack cream crimp cross crush cut decant discard degas deposit detach "
    "dice dilute dip discard dispense dispose dissolve divide drag drain draw dress drill drink "
    "drizzle drop dry dump dust eat eject empty ensure enter erase estimate evaporate examine "
    "expel extract fasten feed feel fetch fill filter find finish fit fix flatten flip flush fold "
    "follow form freeze fry garnish gather get give glue grab grate grease grill grind grip "
    "hammer handle hang harvest heat hold homogenize immerse incubate inject inoculate insert "
    "inspect install invert iron join keep knead label lay leave let level lift light line load "
    "lock look loosen lower lubricate make mark mash match measure melt microwave mince mix "
    "monitor mount move nail note observe obtain oil open operate orient paint pass paste peel "
    "pick pierce pinch pipet pipette place plate plug point polish position pour prepare press "
    "prevent prick proceed pull pump punch purge push put raise reach read rebuild record reduce "
    "refill refrigerate release remove repeat replace reserve rest resuspend return reverse rinse "
    "rip rise roast roll rotate rub run sand saute save saw scoop scrape screw scrub seal search "
    "season secure select separate serve set shake shape sharpen shift show shred shut sieve "
    "sift simmer sit skim slice slide snap soak solder sort spin spoon spray spread sprinkle "
    "squeeze stack stain stand staple start steam stick sterilize stir stop store strain stretch "
    "strip submerge suck suspend sweep swirl switch swab take tap tape tare taste tear test thaw "
    "thread throw tie tighten tilt tip titrate toast top toss touch transfer trim turn twist "
    "unclip uncover unfold unlock unplug unroll unscrew untie unwrap use vacuum verify vortex "
    "wait warm wash watch water wear weigh wet whip whisk wind wipe wrap write zero zip"
)
TOOL_VERBS = _words(
    "pipette pipet spoon hammer brush drill saw whisk tape glue staple vacuum iron microwave "
    "vortex centrifuge filter"
)
"""Verbs that are also the name of the tool."""

THING_VERBS = TOOL_VERBS | _words(
    "cap label plug plate clip clamp screw nail bolt button butter oil water cover seal lock grip "
    "handle paste paint pump punch sieve shape light line file level stain thread wrap"
)
"""Verbs that are as often the name of a thing."""

MEASURES_THAT_ARE_THINGS = _words("cup bar tablespoon teaspoon")

IRREGULAR_VERBS = {
    "drank": "drink",
    "drunk": "drink",
    "ate": "eat",
    "eaten": "eat",
    "took": "take",
    "taken": "take",
    "held": "hold",
    "made": "make",
    "brought": "bring",
    "got": "get",
    "gave": "give",
    "given": "give",
    "hung": "hang",
    "kept": "keep",
    "laid": "lay",
    "left": "leave",
    "poured": "pour",
    "shook": "shake",
    "shaken": "shake",
    "stuck": "stick",
    "stood": "stand",
    "tore": "tear",
    "torn": "tear",
    "threw": "throw",
    "thrown": "throw",
    "tied": "tie",
    "wrote": "write",
    "written": "write",
    "wound": "wind",
    "found": "find",
    "froze": "freeze",
    "frozen": "freeze",
    "broke": "break",
    "broken": "break",
    "bent": "bend",
    "bound": "bind",
    "built": "build",
    "caught": "catch",
    "chose": "choose",
    "drew": "draw",
    "drawn": "draw",
    "fed": "feed",
    "felt": "feel",
    "ground": "grind",
    "slid": "slide",
    "spun": "spin",
    "sat": "sit",
    "swept": "sweep",
    "wore": "wear",
    "worn": "wear",
    "ran": "run",
    "rose": "rise",
    "lit": "light",
    "tying": "tie",
    "went": "go",
    "gone": "go",
}


_SAME = frozenset({"s", "ss", "us", "is", "as"})
_IRREGULAR_NOUNS = {
    "knives": "knife",
    "halves": "half",
    "leaves": "leaf",
    "loaves": "loaf",
    "shelves": "shelf",
    "people": "person",
    "men": "man",
    "women": "woman",
    "children": "child",
    "feet": "foot",
    "teeth": "tooth",
    "mice": "mouse",
    "scissors": "scissors",
    "tweezers": "tweezers",
    "pliers": "pliers",
    "tongs": "tongs",
    "forceps": "forceps",
    "goggles": "goggles",
    "media": "media",
}


def base_form(word: str) -> str | None:
    """Return the base form of a known verb, or ``None`` for other words.

    Examples:
        >>> base_form("stirring"), base_form("poured"), base_form("bottle")
        ('stir', 'pour', None)
    """
    if word in VERBS:
        return word
    if word in IRREGULAR_VERBS:
        return IRREGULAR_VERBS[word]
    return next((stem for stem in _stems(word) if stem in VERBS), None)


def _stems(word: str) -> list[str]:
    """Return possible base forms of a word, the most probable first."""
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            bare = word[: -len(ending)]
            stems = [bare, bare + "e"]
            if len(bare) > 2 and bare[-1] == bare[-2]:
                stems.append(bare[:-1])  # stirred, stirring
            if bare.endswith("i"):
                stems.append(bare[:-1] + "y")  # dried, dries
            return stems
    return []


def singular(noun: str) -> str:
    """Return the singular of a noun; a singular noun is returned unchanged.

    Examples:
        >>> singular("tubes"), singular("dishes"), singular("berries"), singular("glass")
        ('tube', 'dish', 'berry', 'glass')
    """
    if noun in _IRREGULAR_NOUNS:
        return _IRREGULAR_NOUNS[noun]
    if len(noun) < 4 or not noun.endswith("s") or noun[-2:] in _SAME:
        return noun
    if noun.endswith("ies"):
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "xes", "sses", "zes", "toes")):
        return noun[:-2]
    return noun[:-1]


_PIECE = re.compile(
    r"\"[^\"]*\"|“[^”]*”|«[^»]*»"  # a quotation is one piece
    r"|[^\W\d_]+(?:[-'’][^\W\d_]+)*\d*(?:\.\d+)?"  # words, CaCl2, b1.300
    r"|[~<>≈±]?\d+(?:[.,/:–-]\d+)*(?:\s?°[CF]|%|[a-zA-Zµμ]{1,3}\b)?"  # 50, 0.5, 1/2, 37°C, 100x
    r"|[,;:.!?()\[\]]"
)
_STOPS = frozenset(",;:.!?()[]")
_FUNCTION_WORDS = (PREPOSITIONS | PRONOUNS | CONJUNCTIONS | AUXILIARIES) | OTHER_FUNCTION_WORDS
_TO_VERB = frozenset({"to", "and", "then", "or", "please", "not", "also", "can", "will", "must"})


@dataclass(frozen=True)
class TaggedWord:
    """A word with its part of speech.

    Attributes:
        word: As written, in lower case.
        kind: ``noun``, ``verb``, ``adjective``, ``determiner``, ``unit``, ``number``, ``quote``,
            ``stop``, ``of``, or ``function`` for all other words outside noun phrases.
        verb: Base form of a verb, else empty.
    """

    word: str
    kind: str
    verb: str = ""


def tag(sentence: str) -> list[TaggedWord]:
    """Split a sentence into words and tag each one.

    Examples:
        >>> [(t.word, t.kind) for t in tag("Pour 5 mL of water.")][:3]
        [('pour', 'verb'), ('5', 'number'), ('ml', 'unit')]
    """
    pieces = _PIECE.findall(sentence.replace("’", "'"))
    tokens: list[TaggedWord] = []
    for place, piece in enumerate(pieces):
        following = pieces[place + 1].lower() if place + 1 < len(pieces) else "."
        tokens.append(_token(piece, tokens, following))
    return tokens


def _token(piece: str, before: list[TaggedWord], following: str) -> TaggedWord:
    word = piece.lower()
    last = before[-1] if before else TaggedWord(".", "stop")
    simple = _closed_kind(piece, word, last)
    # A verb in "empty the jar" and "she closed the jar", not in "the empty jar" and "a closed jar".
    may_be_verb = simple == "adjective" and (last.kind == "noun" or _opens_clause(before))
    if simple is not None and not may_be_verb:
        return TaggedWord(word, simple)
    base = base_form(word)
    if _is_verb(word, base, before, following):
        return TaggedWord(word, "verb", base or _plain(word))
    if word in ADJECTIVES or word.endswith("ly") or _is_participle(word, base):
        return TaggedWord(word, "adjective")
    return TaggedWord(word, "noun")


def _closed_kind(piece: str, word: str, last: TaggedWord) -> str | None:
    if piece in _STOPS:
        return "stop"
    if piece[0] in '"“«':
        return "quote"
    if piece[0].isdigit() or piece[0] in "~<>≈±":
        return "number"
    if (piece in UNITS or word in UNITS) and last.kind == "number":
        return "unit"
    if word == "of":
        return "of"
    if word in DETERMINERS:
        return "determiner"
    if word in _FUNCTION_WORDS or word.partition("'")[0] in PRONOUNS:  # you'll
        return "function"
    return "adjective" if word in ADJECTIVES else None


def _is_verb(word: str, base: str | None, before: list[TaggedWord], following: str) -> bool:
    last = before[-1] if before else TaggedWord(".", "stop")
    if last.kind in {"determiner", "number", "unit", "adjective", "of"}:
        return False
    if _opens_clause(before):
        return base is not None and not _continues_list(word, before, following)
    if last.word == "to" and following in DETERMINERS | PRONOUNS:
        return True  # to protect the label
    if last.kind == "function":
        introduced = last.word in _TO_VERB or last.word in AUXILIARIES
        return base is not None and (introduced or word.endswith("ing"))
    # The person poured the milk; but: the pour spout.
    inflected = word.endswith(("ed", "s")) or word in IRREGULAR_VERBS
    return base is not None and inflected and _takes_object(following)


def _opens_clause(before: list[TaggedWord]) -> bool:
    """Return whether an imperative may begin here: after a stop, a conjunction or an adverb."""
    for token in reversed(before):
        if token.kind == "adjective" and token.word.endswith("ly"):
            continue
        if token.word in {"please", "then", "next", "first", "finally", "now", "also", "again"}:
            continue
        return token.kind == "stop" or token.word in {"and", "or", "then"}
    return True


def _continues_list(word: str, before: list[TaggedWord], following: str) -> bool:
    """Return whether a word is one more item of a list: "the tube, cap and rack"."""
    last = before[-1].word if before else "."
    if last not in {"and", "or", ","} or not _in_noun_phrase(before):
        return False
    if following in _STOPS or following in {"and", "or"}:
        return last == "," or word in THING_VERBS
    return not _takes_object(following)


def _in_noun_phrase(before: list[TaggedWord]) -> bool:
    content = [t for t in before if t.kind not in {"stop", "function", "adjective"}]
    return bool(content) and content[-1].kind in {"noun", "unit", "quote"}


def _takes_object(following: str) -> bool:
    return (
        following in DETERMINERS | PREPOSITIONS | PRONOUNS | ADJECTIVES
        or following in _STOPS
        or following[0].isdigit()
        or following.endswith("ly")
        or following in {"and", "or", "to", "until"}
    )


def _is_participle(word: str, base: str | None) -> bool:
    return word.endswith("ed") or (base is not None and word != base and word.endswith("ing"))


def _plain(word: str) -> str:
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)]
    return word


_FILLERS = frozenset({"determiner", "adjective", "number", "unit"})


def nouns_and_verbs(sentence: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the heads of the noun phrases and the verbs of a sentence.

    As in the literature on aligning instructions: of "paper towel" the head, of "25 mL of water"
    the water, nothing of what is written on a label, no units, no numbers. Plurals become singular,
    verbs their base form.

    Args:
        sentence: An English sentence.

    Returns:
        Nouns and verbs, lower case, each once, in the order of the sentence.

    Examples:
        >>> nouns_and_verbs("Add 25 mL of DI water to a 50 mL Falcon tube.")
        (('water', 'tube'), ('add',))
        >>> nouns_and_verbs("Dry off the bottle with a paper towel.")
        (('bottle', 'towel'), ('dry',))
    """
    tokens = tag(sentence)
    verbs = [token.verb for token in tokens if token.kind == "verb"]
    nouns = [singular(noun) for noun in _heads(tokens)]
    nouns += [verb for verb in verbs if verb in TOOL_VERBS]
    kept = [noun for noun in nouns if can_name_thing(noun)]
    return tuple(dict.fromkeys(kept)), tuple(dict.fromkeys(verbs))


def plain_name(name: str) -> str:
    """Return a name in lower case and singular, without a number at its end."""
    return singular(name.lower().rstrip("0123456789"))


def can_name_thing(noun: str) -> bool:
    """Return whether a lower-case noun may name a thing: no unit, no "anything", no "volume".

    Examples:
        >>> [word for word in ("water", "ml", "%", "volume") if can_name_thing(word)]
        ['water']
    """
    if noun in UNITS - MEASURES_THAT_ARE_THINGS or noun in VAGUE_NOUNS:
        return False
    if noun in PRONOUNS:
        return False
    return len(noun) > 1 and "." not in noun  # b1.300 is a shelf mark


def _heads(tokens: list[TaggedWord]) -> list[str]:
    heads: list[str] = []
    written = False
    for place, token in enumerate(tokens):
        following = tokens[place + 1] if place + 1 < len(tokens) else TaggedWord(".", "stop")
        written = token.verb == "write" or (written and token.kind in {*_FILLERS, "noun", "quote"})
        # A measure is followed by "of" what it measures; a modifier by the noun it modifies.
        is_head = token.kind == "noun" and following.kind not in {"noun", "of"}
        if is_head and not written:
            heads.append(token.word)
    return heads
