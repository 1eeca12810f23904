"""Finding shots: generative models of pictures and words, and the index they are kept in."""

from wordsight.retrieval.documents import Document, DocumentTable, Source
from wordsight.retrieval.errors import IndexDamagedError, RetrievalError
from wordsight.retrieval.index import Index
from wordsight.retrieval.index_building import BuildReport, Collection, build_index
from wordsight.retrieval.index_writer import IndexWriter
from wordsight.retrieval.joint import JointHit, JointQuery, JointSearch
from wordsight.retrieval.joint_weight import fit_joint_weight, joint_weight
from wordsight.retrieval.paired import PairedModels
from wordsight.retrieval.ranking import Hit, top_k
from wordsight.retrieval.segments import Part, PartData, Segment, Stretch
from wordsight.retrieval.sharded import ShardedSearch
from wordsight.retrieval.text import (
    Analyser,
    BatchSearch,
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
from wordsight.retrieval.trec import read_qrels, read_run, write_qrels, write_run
from wordsight.retrieval.visual import VisualIndex, VisualPart, VisualSettings

__all__ = [
    "Analyser",
    "BatchSearch",
    "BuildReport",
    "Collection",
    "Dirichlet",
    "Document",
    "DocumentTable",
    "Hit",
    "Index",
    "IndexDamagedError",
    "IndexWriter",
    "Interpolation",
    "JelinekMercer",
    "JointHit",
    "JointQuery",
    "JointSearch",
    "LanguageModel",
    "PairedModels",
    "Part",
    "PartData",
    "RelevanceFeedback",
    "RetrievalError",
    "Segment",
    "ShardedSearch",
    "Source",
    "Stretch",
    "TextIndex",
    "TextPart",
    "TextQuery",
    "TwoStage",
    "VisualIndex",
    "VisualPart",
    "VisualSettings",
    "build_index",
    "fit_joint_weight",
    "joint_weight",
    "more_like_this",
    "read_qrels",
    "read_run",
    "top_k",
    "write_qrels",
    "write_run",
]
