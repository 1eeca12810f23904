"""Unigram language models of what is said in shots, scenes and videos."""

from wordsight.retrieval.text.analysis import Analyser, stemming_languages
from wordsight.retrieval.text.batch import BatchSearch
from wordsight.retrieval.text.feedback import RelevanceFeedback, more_like_this, relevance_model
from wordsight.retrieval.text.index import DEFAULT_SHARES, TextIndex
from wordsight.retrieval.text.interpolation_weights import (
    fit_mixing_weights,
    learned_from_queries,
    learned_interpolation,
)
from wordsight.retrieval.text.levels import Levels
from wordsight.retrieval.text.model import LanguageModel, Ranking, Shard, TermEvidence
from wordsight.retrieval.text.part import LEVELS, TEXT, TextPart, text_shards
from wordsight.retrieval.text.postings import Postings
from wordsight.retrieval.text.queries import TextQuery
from wordsight.retrieval.text.smoothing import (
    Dirichlet,
    Interpolation,
    JelinekMercer,
    Smoothing,
    TwoStage,
)
from wordsight.retrieval.text.stop_words import STOP_WORDS
from wordsight.retrieval.text.terms import Terms

__all__ = [
    "DEFAULT_SHARES",
    "LEVELS",
    "STOP_WORDS",
    "TEXT",
    "Analyser",
    "BatchSearch",
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "LanguageModel",
    "Levels",
    "Postings",
    "Ranking",
    "RelevanceFeedback",
    "Shard",
    "Smoothing",
    "TermEvidence",
    "Terms",
    "TextIndex",
    "TextPart",
    "TextQuery",
    "TwoStage",
    "fit_mixing_weights",
    "learned_from_queries",
    "learned_interpolation",
    "more_like_this",
    "relevance_model",
    "stemming_languages",
    "text_shards",
]
