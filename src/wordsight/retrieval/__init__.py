"""Finding shots: generative models of pictures and words, and the index they are kept in."""

from wordsight.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.documents import (
    Document,
    DocumentHit,
    DocumentSource,
    DocumentTable,
    top_k,
)
from wordsight.retrieval.index.build import BuildReport, Collection, IndexWriter, build_index
from wordsight.retrieval.index.reader import Index, ShardedSearch
from wordsight.retrieval.index.segments import IndexPart, LiveSegment, PartData, Segment
from wordsight.retrieval.joint import (
    JointHit,
    JointQuery,
    JointSearch,
    joint_weight,
)
from wordsight.retrieval.text import (
    Analyser,
    Dirichlet,
    Interpolation,
    JelinekMercer,
    LanguageModel,
    RelevanceFeedback,
    TextIndex,
    TextPart,
    TextQuery,
    TwoStage,
    more_like_this,
)
from wordsight.retrieval.trec import read_qrels, read_run, write_run
from wordsight.retrieval.visual import VisualIndex, VisualPart, VisualSettings

__all__ = [
    "Analyser",
    "BuildReport",
    "Collection",
    "Dirichlet",
    "Document",
    "DocumentHit",
    "DocumentSource",
    "DocumentTable",
    "Index",
    "IndexDamagedError",
    "IndexPart",
    "IndexWriter",
    "Interpolation",
    "JelinekMercer",
    "JointHit",
    "JointQuery",
    "JointSearch",
    "LanguageModel",
    "LiveSegment",
    "PartData",
    "RelevanceFeedback",
    "RetrievalError",
    "Segment",
    "ShardedSearch",
    "TextIndex",
    "TextPart",
    "TextQuery",
    "TwoStage",
    "VisualIndex",
    "VisualPart",
    "VisualSettings",
    "build_index",
    "joint_weight",
    "more_like_this",
    "read_qrels",
    "read_run",
    "top_k",
    "write_run",
]
