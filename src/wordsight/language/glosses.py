"""Function words of other languages, each with the English one that does the same.

What happens and what takes part in it is inferred from use, in any language whose words are
separated by spaces. Only articles, prepositions, auxiliaries, pronouns and the like need a table;
with them said in English, the reader of English clauses does the rest, since these languages put
subject, verb and object in the same order. Names of prepositions stay English.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache

from wordsight.language.english.words import is_function_word, is_known

__all__ = ["GLOSSES", "add_segmenter", "glossed", "language_of", "open_uses", "segmented"]

GLOSSES: dict[str, dict[str, str]] = {
    "german": {
        **{"the": "der,die,das,den,dem,des", "a": "ein,eine,einen,einem,einer,eines"},
        **{"this": "dieser,diese,dieses,diesen,diesem", "his": "sein,seine,seinen,seinem"},
        **{"and": "und", "then": "dann,danach", "or": "oder", "but": "aber", "while": "während"},
        **{"before": "bevor", "after": "nachdem", "not": "nicht", "never": "nie", "": "sich"},
        **{"no": "kein,keine,keinen,keinem,keiner", "nobody": "niemand", "nothing": "nichts"},
        **{"he": "er", "she": "sie", "it": "es", "him": "ihn,ihm", "someone": "jemand,man"},
        **{"something": "etwas", "is": "ist", "are": "sind", "was": "war,wurde"},
        **{"were": "waren,wurden", "has": "hat", "have": "haben", "had": "hatte,hatten"},
        **{"from": "von,aus", "from the": "vom", "to": "zu,nach", "to the": "zum,zur"},
        **{"with": "mit", "in": "in", "in the": "im", "into the": "ins", "on": "auf"},
        **{"at": "an,bei", "at the": "am,beim", "under": "unter", "behind": "hinter"},
        **{"beside": "neben", "in front of": "vor", "between": "zwischen", "through": "durch"},
        **{"over": "über", "around": "um", "for": "für", "without": "ohne", "again": "wieder"},
        **{"towards": "in richtung,hin zu", "towards the": "hin zum,hin zur"},
        **{"away from": "weg von", "away from the": "weg vom", "to the left": "nach links"},
        **{"to the right": "nach rechts", "to the left of": "links von,links neben"},
        **{"to the right of": "rechts von,rechts neben", "two": "zwei", "three": "drei"},
        **{"to the left of the": "links vom", "to the right of the": "rechts vom"},
        **{"four": "vier", "who": "wer,wen", "what": "was", "when": "wann", "where": "wo"},
        "how many": "wie viele",
    },
    "dutch": {
        **{"the": "de,het", "a": "een", "this": "deze,dit", "and": "en", "then": "dan,daarna"},
        **{"or": "of", "but": "maar", "while": "terwijl", "before": "voordat", "after": "nadat"},
        **{"not": "niet", "never": "nooit", "no": "geen", "nobody": "niemand", "nothing": "niets"},
        **{"": "zich", "he": "hij", "she": "zij,ze", "him": "hem", "her": "haar"},
        **{"someone": "iemand", "something": "iets", "is": "is", "are": "zijn", "was": "was,werd"},
        **{"were": "waren,werden", "has": "heeft", "have": "hebben", "had": "had,hadden"},
        **{"from": "van,uit", "to": "naar", "with": "met", "in": "in", "on": "op", "at": "bij,aan"},
        **{"under": "onder", "behind": "achter", "beside": "naast", "in front of": "voor"},
        **{"between": "tussen", "through": "door", "over": "over", "without": "zonder"},
        **{"towards": "in de richting van", "away from": "weg van", "again": "weer,opnieuw"},
        **{"to the left of": "links van", "to the right of": "rechts van", "two": "twee"},
        **{"to the left": "naar links", "to the right": "naar rechts", "three": "drie"},
        **{"four": "vier", "who": "wie", "what": "wat", "when": "wanneer", "where": "waar"},
        "how many": "hoeveel",
    },
    "spanish": {
        **{"the": "el,la,los,las", "a": "un,una,unos,unas", "this": "este,esta", "his": "su,sus"},
        **{"and": "y,e", "then": "luego,después,entonces", "or": "o", "but": "pero"},
        **{"while": "mientras", "before": "antes de", "after": "después de", "not": "no"},
        **{"never": "nunca", "nobody": "nadie", "nothing": "nada", "": "se", "he": "él"},
        **{"she": "ella", "someone": "alguien", "something": "algo", "is": "es,está"},
        **{"are": "son,están", "was": "era,estaba,fue", "were": "eran,estaban,fueron"},
        **{"has": "ha", "have": "han", "had": "había", "of": "de", "of the": "del"},
        **{"from": "desde", "to": "a", "to the": "al", "with": "con", "in": "en"},
        **{"on": "sobre,encima de", "on the": "encima del", "under": "bajo,debajo de"},
        **{"behind": "detrás de,tras", "behind the": "detrás del", "beside": "al lado de"},
        **{"beside the": "al lado del", "in front of": "delante de", "between": "entre"},
        **{"through": "por", "for": "para", "without": "sin", "towards": "hacia"},
        **{"away from": "lejos de", "away from the": "lejos del", "again": "otra vez"},
        **{"to the left of": "a la izquierda de", "to the left of the": "a la izquierda del"},
        **{"to the right of": "a la derecha de", "to the right of the": "a la derecha del"},
        **{"to the left": "a la izquierda", "to the right": "a la derecha", "two": "dos"},
        **{"three": "tres", "four": "cuatro", "who": "quién,quien", "what": "qué"},
        **{"when": "cuándo", "where": "dónde", "how many": "cuántos,cuántas"},
    },
    "italian": {
        **{"the": "il,lo,la,i,gli,le,l'", "a": "un,uno,una,un'", "this": "questo,questa"},
        **{"and": "e,ed", "then": "poi", "or": "o", "but": "ma", "while": "mentre"},
        **{"before": "prima di", "after": "dopo", "not": "non", "never": "mai", "": "si"},
        **{"nobody": "nessuno", "nothing": "niente", "he": "lui", "she": "lei", "his": "suo,sua"},
        **{"someone": "qualcuno", "something": "qualcosa", "is": "è", "are": "sono", "was": "era"},
        **{"has": "ha", "have": "hanno", "had": "aveva", "of": "di,d'", "from": "da"},
        **{"of the": "del,dello,della,dei,degli,delle,dell'", "to": "a,ad"},
        **{"from the": "dal,dallo,dalla,dai,dagli,dalle,dall'", "with": "con"},
        **{"to the": "al,allo,alla,ai,agli,alle,all'", "with the": "col", "in": "in", "on": "su"},
        **{"in the": "nel,nello,nella,nei,nelle,nell'", "on the": "sul,sullo,sulla,sui,sulle"},
        **{"under": "sotto", "behind": "dietro", "beside": "accanto a", "between": "tra,fra"},
        **{"beside the": "accanto al,accanto alla", "in front of": "davanti a"},
        **{"in front of the": "davanti al,davanti alla", "through": "attraverso", "for": "per"},
        **{"without": "senza", "towards": "verso", "away from": "lontano da"},
        **{"away from the": "lontano dal,lontano dalla", "to the left of": "a sinistra di"},
        **{"to the left of the": "a sinistra del,a sinistra della", "again": "di nuovo"},
        **{"to the right of the": "a destra del,a destra della", "to the left": "a sinistra"},
        **{"to the right of": "a destra di", "to the right": "a destra", "two": "due"},
        **{"three": "tre", "four": "quattro", "who": "chi", "what": "cosa", "when": "quando"},
        **{"where": "dove", "how many": "quanti,quante"},
    },
    "french": {
        **{"the": "le,la,les,l'", "a": "un,une", "this": "ce,cet,cette,ces", "his": "son,sa,ses"},
        **{"and": "et", "then": "puis,ensuite", "or": "ou", "but": "mais", "while": "pendant que"},
        **{"before": "avant de", "after": "après", "not": "pas", "never": "jamais"},
        **{"": "ne,n',se,s'", "no": "aucun,aucune", "nothing": "rien", "he": "il", "she": "elle"},
        **{"they": "ils,elles", "someone": "quelqu'un,on", "something": "quelque chose"},
        **{"is": "est", "are": "sont", "was": "était", "were": "étaient", "has": "a"},
        **{"have": "ont", "had": "avait", "of": "de,d'", "of the": "du,des", "from": "depuis"},
        **{"to": "à", "to the": "au,aux", "with": "avec", "in": "dans,en", "on": "sur"},
        **{"under": "sous", "behind": "derrière", "beside": "à côté de", "between": "entre"},
        **{"beside the": "à côté du", "in front of": "devant", "through": "par,à travers"},
        **{"for": "pour", "without": "sans", "towards": "vers", "away from": "loin de"},
        **{"away from the": "loin du", "to the left of": "à gauche de", "again": "encore"},
        **{"to the left of the": "à gauche du", "to the right of": "à droite de"},
        **{"to the right of the": "à droite du", "to the left": "à gauche"},
        **{"to the right": "à droite", "two": "deux", "three": "trois", "four": "quatre"},
        **{"who": "qui", "what": "que,qu'", "when": "quand", "where": "où"},
        "how many": "combien de",
    },
    "portuguese": {
        **{"the": "o,a,os,as", "a": "um,uma", "this": "este,esta", "his": "seu,sua"},
        **{"and": "e", "then": "depois,então", "or": "ou", "but": "mas", "while": "enquanto"},
        **{"before": "antes de", "after": "depois de", "not": "não", "never": "nunca", "": "se"},
        **{"nobody": "ninguém", "nothing": "nada", "he": "ele", "she": "ela"},
        **{"someone": "alguém", "something": "algo", "is": "é,está", "are": "são,estão"},
        **{"was": "era,estava,foi", "were": "eram,estavam", "has": "tem", "had": "tinha"},
        **{"of": "de", "of the": "do,da,dos,das", "to": "para", "to the": "ao,à,aos,às"},
        **{"with": "com", "in": "em", "in the": "no,na,nos,nas", "on": "sobre", "in a": "num,numa"},
        **{"under": "sob,debaixo de", "behind": "atrás de", "between": "entre", "through": "por"},
        **{"through the": "pelo,pela", "beside the": "ao lado do,ao lado da", "without": "sem"},
        **{"in front of the": "em frente do,em frente da", "behind the": "atrás do,atrás da"},
        **{"towards": "em direção a", "towards the": "em direção ao,em direção à"},
        **{"away from": "longe de", "away from the": "longe do,longe da", "again": "de novo"},
        **{"to the left of the": "à esquerda do,à esquerda da", "to the left": "à esquerda"},
        **{"to the right of the": "à direita do,à direita da", "to the right": "à direita"},
        **{"two": "dois,duas", "three": "três", "four": "quatro", "who": "quem", "what": "que"},
        **{"when": "quando", "where": "onde", "how many": "quantos,quantas"},
    },
}
"""Per language the English function words and what they are called there; reflexive and other words
that add nothing have an empty one."""

_PARTICLES = {
    "german": "auf,ab,hin,weg,aus,ein,an,um,zu,vor,zurück,hoch,nieder,los,fort,herunter,hinein",
    "dutch": "op,neer,weg,uit,in,aan,terug,af,om,toe,door",
}
"""Particles of verbs, which stand at the end of a clause."""

_LETTERS = {
    "german": frozenset("äöüß"),
    "dutch": frozenset("éëïóöü"),
    "spanish": frozenset("áéíóúüñ"),
    "french": frozenset("àâæçéèêëîïôœùûüÿ"),
    "italian": frozenset("àèéìíòóùú"),
    "portuguese": frozenset("áâãàçéêíóôõú"),
}
_OWN = 1.5  # how much more a function word counts that English lacks
_OWN_ARTICLES = frozenset(["die", "den"])
"""Articles that are spelled as English words are."""
_DOUBLED = "bb|dd|ff|gg|mm|pp|tt|zz"
_STRANGE = {
    language: re.compile(pattern)
    for language, pattern in {
        "german": "[aiovcy]$|uu|oe|ij|[^s]ch[^aeioltsrn]",
        "dutch": "[aiocq]$|ß",
        "spanish": f"[kwç]|nn|ss|sch|ou|[ln]h|{_DOUBLED}|[^aeonsrldzyjáéíóú]$",
        "french": "[kwñ]|zz|[aojkv]$",
        "italian": "[jkwxyçñ]|[ln]h|[^aeiouàèéìòùlnrd]$",
        "portuguese": f"[kwyñ]|nn|ll|{_DOUBLED}|[^aeiouãõáéíóúâêômrslz]$",
    }.items()
}
"""Letters that words of a language hardly have or end in."""
_ASCII = frozenset("abcdefghijklmnopqrstuvwxyz")
_CLAUSE_END = frozenset([*",;:.!?…", "und", "en"])
_LONGEST = 4  # words of a phrase in the tables
_OPEN_USES = {"N": 0.8, "V": 0.8, "J": 1.5, "A": 1.2, "U": 4.0}  # of a word no table has
_NOUN_USES = {"N": 0.0, "V": 1.6, "J": 2.3, "A": 2.0, "U": 4.0}  # of what signs show to be one
_OTHER_USES = _OPEN_USES | {"N": 2.4}  # of what signs show to be none
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_segmenters: list[Callable[[str], Iterable[str]]] = []


def add_segmenter(segmenter: Callable[[str], Iterable[str]]) -> None:
    """Let texts of scripts without spaces, such as Chinese, be cut into words by a function.

    Args:
        segmenter: Returns the words of a text; the one that was added last is asked.
    """
    _segmenters.append(segmenter)


def segmented(text: str) -> str:
    """Return a text with spaces between its words, if it needs a segmenter and there is one."""
    if not _segmenters or not _UNSPACED.search(text):
        return text
    return " ".join(_segmenters[-1](text))


@cache
def _table(language: str) -> dict[tuple[str, ...], str]:
    return {
        tuple(phrase.split()): english
        for english, phrases in GLOSSES[language].items()
        for phrase in phrases.split(",")
    }


def language_of(words: Sequence[str], *, foreign: Collection[str] = ()) -> str | None:
    """Return the language whose function words a text has most of; None for English.

    Words that are in an English dictionary speak for English ("a man in a hat" has three words that
    other languages have, too); those that are in none speak for a language of which there is a
    function word that English lacks.

    Args:
        words: The words in lower case, of one text or of all texts of a corpus.
        foreign: Words of the same language, known not to be English.
    """
    counts = Counter(word for word in words if word[0].isalpha())
    english = {word for word in counts if _is_english(word)}
    unknown = counts.total() - sum(counts[word] for word in english)
    best, most = None, 0.0 if foreign else 1.0
    for language in GLOSSES:
        table, elided = _table(language), _elided(language)
        listed = {w for w in counts if (w,) in table or f"{w.partition(chr(39))[0]}'" in elided}
        own = {word for word in listed if word not in english or word in _OWN_ARTICLES}
        found = sum(counts[word] * (_OWN if word in own else 1.0) for word in listed)
        if own:
            found += unknown - sum(counts[word] for word in listed - english)
        rest = [(word, counts[word]) for word in counts.keys() - listed]
        found -= sum(n * _strangeness(word, language) for word, n in rest)
        if foreign and listed:
            strange = sum(_strangeness(word, language) for word in foreign) / len(foreign)
            found = max(found, 1.0) - strange
        elif foreign:
            continue
        if found > max(most, 0 if foreign else sum(counts[word] for word in english - own)):
            best, most = language, found
    return best


def _strangeness(word: str, language: str) -> float:
    """Return how much a word looks as if it were of another language."""
    if not word.isalpha():
        return 0.0
    foreign = not set(word) - _ASCII <= _LETTERS[language]
    return foreign + bool(_STRANGE[language].search(word)) / 2


@cache
def _is_english(word: str) -> bool:
    return is_function_word(word) or any(is_known(word, tag) for tag in "NVJA")


@cache
def _elided(language: str) -> frozenset[str]:
    return frozenset(key[0] for key in _table(language) if key[0].endswith("'"))


def glossed(words: Sequence[str], language: str) -> list[tuple[str, str]]:
    """Return words with function words in English, each with what was written.

    Args:
        words: Words and marks in lower case.
        language: One of :data:`GLOSSES`.
    """
    words = [part for word in words for part in _parts(word, language)]
    table, particles = _table(language), _PARTICLES.get(language, "").split(",")
    found: list[tuple[str, str]] = []
    place = 0
    while place < len(words):
        ends = place + 1 == len(words) or words[place + 1] in _CLAUSE_END
        if place and ends and words[place] in particles:
            found.append(("up", words[place]))
            place += 1
            continue
        length = next(
            (n for n in range(_LONGEST, 0, -1) if tuple(words[place : place + n]) in table), 0
        )
        if length:
            english = table[tuple(words[place : place + length])]
            found += [(word, word) for word in english.split()]
        else:
            found.append((words[place], words[place]))
        place += max(1, length)
    return found


def _parts(word: str, language: str) -> list[str]:
    """Split what is joined by an apostrophe: "l'homme"."""
    head, mark, rest = word.partition("'")
    if not mark or not rest or (word,) in _table(language):
        return [word]
    return [f"{head}'", rest] if f"{head}'" in _elided(language) else [word]


def open_uses(
    uses: Callable[[str], Mapping[str, float]],
    nouns: Collection[str] = (),
    others: Collection[str] = (),
) -> Callable[[str], Mapping[str, float]]:
    """Return uses under which words that are no English function words can be anything.

    Args:
        uses: The possible uses with their costs; only those that a lexicon has count.
        nouns: Words that are mostly nouns.
        others: Words that are none.
    """

    def found(word: str) -> Mapping[str, float]:
        known = uses(word)
        if " " in word or is_function_word(word):
            return known
        own = _NOUN_USES if word in nouns else _OTHER_USES if word in others else _OPEN_USES
        costs = own | ({"A": 0.0} if word.endswith("mente") else {})
        in_lexicon = {tag: cost for tag, cost in known.items() if cost < 0}
        return costs | in_lexicon

    return found
