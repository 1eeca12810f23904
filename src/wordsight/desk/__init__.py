"""The desk: what people ask of a library, for the command line and the studio alike."""

from wordsight.desk.answers import Searching
from wordsight.desk.found import Found
from wordsight.desk.query import Asked
from wordsight.desk.teller import Notebook, Teller

__all__ = ["Asked", "Found", "Notebook", "Searching", "Teller"]
