"""English words: closed classes, kinds of people, and what a dictionary knows of the rest.

A word has *uses*: tags of one letter with a cost. Closed classes are listed here; for all other
words the dictionary of ``lemminflect`` says which uses they can have, and gives their base form.
"""

from collections.abc import Iterable
from functools import lru_cache

__all__ = [
    "BROADER",
    "COLOURS",
    "DIRECTIONS",
    "FIXED_PHRASES",
    "GIVING",
    "KINDS",
    "LIGHT_VERBS",
    "MANNERS",
    "MEASURES",
    "NUMBERS",
    "OBJECT_VERBS",
    "OF_THINGS",
    "PARTICLES",
    "PATH_PREPOSITIONS",
    "PEOPLE_PRONOUNS",
    "PHRASAL",
    "PLACES",
    "PLACE_PREPOSITIONS",
    "SEEN",
    "STAYING_ACTIVE",
    "TIMES",
    "base_form",
    "forms_of",
    "is_continuous",
    "is_function_word",
    "is_known",
    "is_only_participle",
    "is_participle",
    "is_plural",
    "kind_of",
    "uses_of",
]

# Tags: D determiner, Q number, J adjective, N noun, P pronoun, V verb, X form of "be", H form of
# "have", M modal or form of "do", T particle, R preposition, A adverb, G direction, L place phrase,
# C connector of clauses, K "and" inside a phrase, Z relative pronoun, I infinitive "to",
# O negation, E "there", U not understood.


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split(","))


PLACE_PREPOSITIONS = _words(
    "to the left of,to the right of,on the left of,on the right of,left of,right of,in front of,"
    "at the back of,on top of,next to,close to,far from,behind,beside,near,above,below,beneath,"
    "under,underneath,inside,outside,opposite"
)
PATH_PREPOSITIONS = _words("towards,toward,away from,along,past,around,across,through,up to,out of")
_PREPOSITIONS = _words(
    "into,onto,on to,from,with,for,at,against,about,without,between,upon,within,among,using,via,"
    "in,on,over,off,by,of,to,up,down,out,except,except for,during,despite,per,"
    "all over"
)
DIRECTIONS = _words(
    "to the left,to the right,from the left,from the right,leftward,leftwards,rightward,rightwards,"
    "upward,upwards,downward,downwards,forward,forwards,backward,backwards"
)
PLACES = {
    f"{preposition} the {place}": place
    for place in ("left", "right", "middle")
    for preposition in ("on", "in", "at")
}
"""Phrases that say which one is meant: "the bottle on the left" is the left bottle."""

MANNERS = _words("fast,together,alone,slow,straight")
"""Adverbs that say how something is done, besides those in "ly"."""

PARTICLES = _words("up,down,off,out,away,back,over")
_OTHER_PARTICLES = _words("in,on,around,through,along,across,past,by,apart,together,aside,open")
PHRASAL = {
    "on": _words("turn,switch,put,try,plug,pull,slip"),
    "in": _words("hand,plug,fill"),
    "over": _words("hand,turn,knock,push,tip,flip"),
}
"""Verbs whose object may follow a particle that is mostly a preposition: "turns on the light"."""
_ADVERBS = _words(
    "again,once,twice,also,too,still,just,now,already,soon,first,last,finally,later,there,here,"
    "inside,outside,very,quite,fast,together,alone,somewhere,at the same time,at once,right now,"
    "after a while,after a moment,a moment later,"
    "for a while,for a moment,a bit,a little,as well,in a hurry,ever,always,even,only,instead,"
    "overhead,sideways,everywhere,anywhere,nowhere,clockwise,anticlockwise,counterclockwise,"
    "meanwhile,afterwards,closer,farther,further,home,indoors,nearby,upstairs,downstairs,yet,"
    "side by side,hand in hand,arm in arm,one by one,one after another,back and forth,up and down,"
    "all the way,"
    "by itself,by himself,by herself,by themselves,on its own,on his own,on her own,on their own"
)
_CONNECTORS = _words(
    "and,then,while,before,after,but,when,as,until,and then,after that,before that,whereas,as soon "
    "as,once,because,so,or,if,since"
)
_MORE_PHRASES = ("no one", "each other", "one another", "a couple of", "a few", "about to")
TIMES = _words("second,seconds,minute,minutes,hour,hours,moment,moments,day,days,while,times")
"""Nouns of phrases that say how long or how much later: "after a few seconds"."""

MEASURES = _words(
    "group,crowd,bunch,pair,couple,number,lot,row,one,some,all,both,each,most,half,rest,dozen,"
    "handful,plenty,bit,piece,slice,kind,sort,type"
)
"""Words that say how many there are of what follows "of"."""
FIXED_PHRASES = frozenset(
    phrase
    for group in (PLACE_PREPOSITIONS, PATH_PREPOSITIONS, _PREPOSITIONS, DIRECTIONS, PLACES)
    for phrase in (*group, *_ADVERBS, *_CONNECTORS, *_MORE_PHRASES)
    if " " in phrase
)

OBJECT_VERBS = _words("pick,put,take,lift,grab,carry,place,hold,bring,raise,remove,throw,kick,wipe")
"""Verbs that are not said without what they are done to: "bottle picked up" is in the passive."""

OF_THINGS = _words("park,dress,leave,wear,find,use,cover,fill,tie")
"""Verbs whose participle after a noun says more of it: "the man dressed in black leaves"."""

GIVING = _words("give,hand,show,send,offer,teach,bring,throw,pass")
"""Verbs with two objects, of which one is left in the passive: "he was given a plate"."""

SEEN = _words("see,show,watch,observe,notice,film,hear,catch")
"""Verbs that say in the passive how it is known what another verb says: "is seen leaving"."""

STAYING_ACTIVE = _words(
    "walk,jump,roll,stand,sit,wait,turn,land,start,stop,arrive,cry,scream,shout,laugh,smile,wave,"
    "look,move,explode,bounce,slide,enter,cross,return,dance,talk"
)
"""Verbs that are in the active after a passive: "he was pushed and jumped down"."""

LIGHT_VERBS = _words("start,begin,try,continue,want,go,need,decide,happen,keep,finish,manage")
"""Verbs before another one that do not change what is seen: "starts to walk"."""

COLOURS = _words(
    "black,white,red,green,yellow,blue,brown,orange,pink,purple,grey,gray,violet,beige"
)
_ADJECTIVES = COLOURS | _words(
    "big,small,large,little,tiny,huge,long,short,tall,wide,narrow,thick,thin,round,square,flat,"
    "left,right,middle,other,same,own,first,second,third,last,next,new,old,young,full,empty,closed,"
    "open,front,back,top,bottom,dark,light,bright,heavy,blonde,blond,hot,cold,wet,dry,clean,dirty"
)
PEOPLE_PRONOUNS = _words(
    "he,she,him,her,they,them,someone,somebody,anyone,anybody,everyone,everybody,nobody,no one,who,"
    "whom,i,we,you,me,us,himself,herself,themselves"
)
_THING_PRONOUNS = _words(
    "it,something,anything,everything,nothing,what,itself,each other,one another"
)
_DENYING = _words("nobody,no one,nothing,none,neither")
NUMBERS = {
    word: n
    for n, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"]
    )
}
NUMBERS |= {"both": 2, "couple": 2, "pair": 2, "nine": 9, "ten": 10}
_QUANTITIES = _words("several,many,few,some,any,all,each,every,no,most,more,a couple of,a few")

KINDS: dict[str, tuple[str, ...]] = {
    "person": (
        *("person", "people", "man", "woman", "boy", "girl", "guy", "lady", "gentleman", "child"),
        *("kid", "human", "adult", "individual", "pedestrian", "somebody"),
    ),
    "car": ("car", "automobile", "auto", "sedan"),
    "bicycle": ("bicycle", "bike"),
    "motorcycle": ("motorcycle", "motorbike"),
    "tv": ("tv", "television"),
    "phone": ("phone", "cellphone", "smartphone"),
}
"""Kinds of things with the nouns that name them where a lexicon has no noun of their own. A lexicon
file extends it by spellings: ``person : noun : person | nurse``."""

BROADER: dict[str, str] = {
    noun: broader
    for broader, nouns in {
        "fruit": "apple banana orange pear peach",
        "cup": "mug glass",
        "plate": "dish",
        "cloth": "towel rag",
        "box": "carton package parcel",
        "bag": "backpack handbag",
        "backpack": "rucksack",
        "medicine": "pill tablet",
        "remote": "controller",
        "couch": "sofa armchair",
        "tv": "television screen monitor",
        "cell phone": "mobile",
        "refrigerator": "fridge",
        "bicycle": "bike",
        "motorcycle": "motorbike",
        "airplane": "plane",
        "truck": "van lorry",
        "donut": "doughnut",
        "dog": "puppy",
        "cat": "kitten",
    }.items()
    for noun in nouns.split()
}
"""Nouns with a more general one, which may stand for each other where a lexicon has one of them."""


def _closed() -> dict[str, dict[str, float]]:
    uses: dict[str, dict[str, float]] = {}

    def add(words: str | Iterable[str], tag: str, cost: float = 0.0) -> None:
        for word in words.split(",") if isinstance(words, str) else words:
            uses.setdefault(word, {})[tag] = cost

    add("the,a,an,another,this,these,those,its,his,her,their,my,your,our,which,whose", "D")
    add("that", "D", 0.3)
    add([*NUMBERS, *_QUANTITIES], "Q")
    add("this,these,those,that,one,both,all,some,another", "P", 0.8)
    add(PEOPLE_PRONOUNS | _THING_PRONOUNS | {"none", "neither"}, "P")
    add("her", "P", 0.1)
    add("one", "N", 1.0)
    add("couple,pair", "N", 0.5)
    add("is,are,was,were,be,been,being,am,'s,'re,gets,get,got,getting", "X")
    add("gets,get,got,getting", "X", 0.4)
    add("gets,get,got,getting", "V", 0.3)
    add("has,have,had,having", "H")
    add("has,have,had,having", "V", 0.3)
    add("do,does,did,will,would,can,could,should,may,might,must", "M")
    add("do,does,did,doing,done", "V", 0.8)
    add("about to", "M")
    add("can", "N", 0.7)
    add("not,n't,never,cannot,without", "O")
    add("there", "E")
    add(PLACE_PREPOSITIONS | PATH_PREPOSITIONS | _PREPOSITIONS, "R")
    add(PARTICLES, "T")
    add("up,down,out", "R", 0.6)
    add("off,over", "R", 0.05)
    add("off,over", "T", 0.3)
    add("off", "T")
    add("left,right", "G", 0.4)
    add("left", "V", 0.1)
    add("away,back", "A", 0.4)
    add(_OTHER_PARTICLES, "T", 0.6)
    add("to", "I", 0.1)
    add(DIRECTIONS, "G")
    add(PLACES, "L")
    add(_ADVERBS, "A", 0.1)
    add(_CONNECTORS, "C")
    add("before,after,until,as,since", "R", 0.5)
    add("and,or,nor", "K", 0.1)
    add("nor", "C")
    add("neither", "Q")
    add("who,which,that", "Z", 0.1)
    add(_ADJECTIVES, "J")
    add("please,ok,okay,hello,hi,um,uh,oh,well,else,oneself", "U", -2.5)
    for word in _DENYING:
        uses[word]["P"] = 0.1
    return uses


_CLOSED = _closed()
# Closed words that are nothing else; other closed words may also be nouns, verbs and so on.
_ONLY_CLOSED = frozenset(
    word
    for word, uses in _CLOSED.items()
    if (set(uses) & set("DPXHMORCQKZE") or word in ("back", "away"))
    and word not in ("can", "one", "couple", "pair", "past", "using")
)
_DICTIONARY_TAGS = {"NOUN": "N", "PROPN": "N", "VERB": "V", "ADJ": "J", "ADV": "A"}
_RARELY_VERBS = _words(
    "man,woman,person,people,child,table,hand,bottle,box,cup,bowl,plate,chair,book,phone,bag,ball,"
    "car,bike,cloth,cone,can,glass,room,bus,truck,dog,cat,shelf,microwave,milk,fruit,head,door,"
    "floor,street,water,pan,pot,fork,spoon,stool,backpack,medicine,paper,pen,garden,house,bench,light"
)
_RARELY_NOUNS = _words(
    "pick,put,take,go,come,walk,leave,leaves,open,close,stand,stands,hold,carry,move,moves,get,"
    "run,runs,drive,drives,turn,turns,drop,drops,lift,lifts,push,pull,throw,catch,pour,eat,drink,"
    "cut,stop,stops,start,enter,reach,give,show,place,places,approach,approaches,sit,wash,wait,"
    "clean,look,looks,set,bring,pass,passes,walks,wipe,grab,touch,touches,cross,crosses,park,left"
)


@lru_cache(maxsize=65536)
def _dictionary(word: str) -> dict[str, tuple[str, ...]]:
    from lemminflect import getAllLemmas

    found: dict[str, tuple[str, ...]] = {}
    for part, lemmas in getAllLemmas(word).items():
        if part in _DICTIONARY_TAGS:
            found.setdefault(_DICTIONARY_TAGS[part], tuple(lemmas))
    return found


@lru_cache(maxsize=65536)
def uses_of(word: str) -> dict[str, float]:
    """Return the possible uses of a word with their costs.

    Words that neither a closed class nor the dictionary has can be anything, at a cost; ``U``, to
    leave a word out, is possible for all.
    """
    uses = dict(_CLOSED.get(word, {}))
    if " " in word and set(word.split()[-2:]) & TIMES:
        return {"A": 0.0, "U": 4.0}
    if word not in _ONLY_CLOSED:
        known = _dictionary(word.rpartition("-")[2] if word not in _CLOSED else word)
        otherwise = 0.6 if uses else 0.0
        for tag in known:
            uses.setdefault(tag, otherwise)
        if base_form(word, "N") in _RARELY_VERBS:
            uses["N"] = 0.0
            if "V" in uses:
                uses["V"] += 0.8
        past = base_form(word, "V") != word and not word.endswith(("s", "ing"))
        rare = word in _RARELY_NOUNS or (word[-1] == "s" and base_form(word, "V") in _RARELY_NOUNS)
        if "N" in uses and "V" in uses and (past or rare):
            uses["N"] += 0.8
        if "A" in uses and not (word.endswith("ly") or word in _ADVERBS):
            uses["A"] += 0.7
        if "J" in uses and word not in _ADJECTIVES:
            uses["J"] += 0.8 if "N" in uses else 0.0
            uses.setdefault("N", 0.7)  # "the remote"
        if word.endswith("ly") and len(word) > 4:
            uses["A"] = 0.0
        if "V" in uses and (is_continuous(word) or is_participle(word)):
            uses["J"] = min(uses.get("J", 9.0), 0.4 if is_continuous(word) else 0.8)
        if not uses:
            uses = _unknown(word)
    uses.setdefault("U", 4.0)
    return uses


def _unknown(word: str) -> dict[str, float]:
    if word.isdecimal():
        return {"Q": 0.0, "N": 1.0}
    if not word.isascii():
        return {"N": 1.5}
    verb = 0.8 if word.endswith(("ed", "ing")) else 1.5
    return {"N": 0.8, "V": verb, "J": 1.5}


@lru_cache(maxsize=65536)
def base_form(word: str, tag: str) -> str:
    """Return the form under which a dictionary lists a word: "picked" is "pick" as a verb."""
    if "-" in word:
        head, _, last = word.rpartition("-")
        return f"{head}-{base_form(last, tag)}"
    if tag == "V" and word in _BASES:
        return _BASES[word]
    found = _dictionary(word).get(tag)
    if not found:
        plural = word.endswith("s") and not word.endswith(("ss", "us")) and len(word) > 3
        return word[:-1] if plural and not _dictionary(word) else word
    return word if word in found and tag != "V" else found[0]


# Forms that the dictionary lists under a rarer verb first.
_BASES = {"left": "leave", "leaves": "leave", "lay": "lie", "fell": "fall", "saw": "see"} | {
    "found": "find",
    "lying": "lie",
    "put": "put",
    "puts": "put",
    "ate": "eat",
    "rode": "ride",
    "went": "go",
    "got": "get",
    "gets": "get",
    "getting": "get",
    "wound": "wind",
    "drove": "drive",
    "ground": "grind",
    "does": "do",
    "did": "do",
    "done": "do",
    "has": "have",
    "had": "have",
}


@lru_cache(maxsize=4096)
def forms_of(verb: str) -> frozenset[str]:
    """Return the forms of a verb, given its base form; itself alone if no dictionary has it."""
    from lemminflect import getAllInflections

    found = getAllInflections(verb, upos="VERB")
    return frozenset(form for forms in found.values() for form in forms) | {verb}


def is_known(word: str, tag: str) -> bool:
    """Whether the dictionary or a closed class lists a use of a word."""
    last = word.rpartition("-")[2]
    return tag in _dictionary(last) or tag in _CLOSED.get(word, {})


def is_function_word(word: str) -> bool:
    """Whether a word belongs to a closed class and to nothing else."""
    return word in _ONLY_CLOSED


def is_continuous(word: str) -> bool:
    """Whether a verb form ends in "ing"."""
    return word.endswith("ing") and base_form(word, "V") != word


@lru_cache(maxsize=4096)
def is_participle(word: str) -> bool:
    """Whether a verb form can follow "was" in the passive."""
    from lemminflect import getInflection

    base = base_form(word, "V")
    if is_continuous(word):
        return False
    forms = getInflection(base, "VBN", inflect_oov=False)
    return word in forms or (not forms and word.endswith("ed"))


@lru_cache(maxsize=4096)
def is_only_participle(word: str) -> bool:
    """Whether a verb form is a participle and no past tense: "taken", not "put" or "closed"."""
    from lemminflect import getInflection

    base = base_form(word, "V")
    return is_participle(word) and word not in (*getInflection(base, "VBD"), base)


def is_plural(word: str) -> bool:
    """Whether a noun is in the plural."""
    return word == "people" or (base_form(word, "N") != word and not word.endswith("ss"))


def kind_of(lemma: str) -> str | None:
    """Return the kind that a noun names, or None."""
    return _KIND_OF.get(lemma)


_KIND_OF = {noun: kind for kind, nouns in KINDS.items() for noun in nouns}
