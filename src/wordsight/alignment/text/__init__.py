"""The text side of alignment: steps, sentences, nouns and verbs of written instructions."""

from wordsight.alignment.text.instructions import instructions_from_text, read_instructions
from wordsight.alignment.text.parses import nouns_of_parse, parse_tree, verbs_of_parse
from wordsight.alignment.text.splitting import split_sentences, split_steps
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
