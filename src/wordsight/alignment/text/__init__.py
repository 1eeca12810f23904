"""The text side of alignment: steps, sentences, nouns and verbs of written instructions."""

from wordsight.alignment.text.instructions import (
    instructions_from_text,
    nouns_of_parse,
    parse_tree,
    read_instructions,
    split_sentences,
    split_steps,
    verbs_of_parse,
)
from wordsight.alignment.text.tagging import nouns_and_verbs

__all__ = [
    "instructions_from_text",
    "nouns_and_verbs",
    "nouns_of_parse",
    "parse_tree",
    "read_instructions",
    "split_sentences",
    "split_steps",
    "verbs_of_parse",
]
