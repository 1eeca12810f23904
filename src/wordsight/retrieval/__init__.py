"""Finding shots: generative models of pictures and words, and the index they are kept in."""

from wordsight.retrieval.documents import Document, DocumentTable, Source
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.index import Index
from wordsight.retrieval.index_building import BuildReport, Collection, build_index
from wordsight.retrieval.index_writer import IndexWriter
from wordsight.retrieval.ranking import Hit, top_k
from wordsight.retrieval.segments import Part, PartData, Segment, Stretch
from wordsight.retrieval.visual import VisualIndex, VisualPart, VisualSettings

__all__ = [
    "BuildReport",
    "Collection",
    "Document",
    "DocumentTable",
    "Hit",
    "Index",
    "IndexDamagedError",
    "IndexWriter",
    "Part",
    "PartData",
    "RetrievalError",
    "Segment",
    "Source",
    "Stretch",
    "VisualIndex",
    "VisualPart",
    "VisualSettings",
    "build_index",
    "top_k",
]
