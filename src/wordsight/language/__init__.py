"""Words and sentences: lexicon, grammar, parsing and realisation of sentences."""

from wordsight.errors import (
    AmbiguityError,
    LanguageError,
    LexiconError,
    UnknownWordError,
)
from wordsight.language.english.binding import (
    Statement,
    Understood,
    is_clause,
    read_query,
    read_sentence,
    read_sentences,
    understand,
)
from wordsight.language.generation import (
    enumerate_sentences,
    near_misses,
    role_swapped,
    verb_swapped,
)
from wordsight.language.glosses import add_segmenter
from wordsight.language.lexicon import Entry, Lexicon, PartOfSpeech
from wordsight.language.lexicon_file import (
    default_lexicon,
    parse_lexicon,
    read_lexicon,
    write_lexicon,
)
from wordsight.language.lexicon_inference import InferredEntry, InferredLexicon, infer_lexicon
from wordsight.language.parser import parse
from wordsight.language.realisation import realise, sentence_of

__all__ = [
    "AmbiguityError",
    "Entry",
    "InferredEntry",
    "InferredLexicon",
    "LanguageError",
    "Lexicon",
    "LexiconError",
    "PartOfSpeech",
    "Statement",
    "Understood",
    "UnknownWordError",
    "add_segmenter",
    "default_lexicon",
    "enumerate_sentences",
    "infer_lexicon",
    "is_clause",
    "near_misses",
    "parse",
    "parse_lexicon",
    "read_lexicon",
    "read_query",
    "read_sentence",
    "read_sentences",
    "realise",
    "role_swapped",
    "sentence_of",
    "understand",
    "verb_swapped",
    "write_lexicon",
]
