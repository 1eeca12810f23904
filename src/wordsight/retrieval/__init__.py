"""Finding shots: generative models of pictures and words, and the index they are kept in."""

from wordsight.retrieval.documents import Document, DocumentTable, Source
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.segments import Part, PartData, Segment, Stretch

__all__ = [
    "Document",
    "DocumentTable",
    "IndexDamagedError",
    "Part",
    "PartData",
    "RetrievalError",
    "Segment",
    "Source",
    "Stretch",
]
