"""What lies around a neural network that detects: its labels, its input and its outputs."""

from wordsight.perception.neural.images import InputFormat, Placement
from wordsight.perception.neural.labels import parse_names, read_labels
from wordsight.perception.neural.outputs import STYLES, Candidates, decode, recognise

__all__ = [
    "STYLES",
    "Candidates",
    "InputFormat",
    "Placement",
    "decode",
    "parse_names",
    "read_labels",
    "recognise",
]
