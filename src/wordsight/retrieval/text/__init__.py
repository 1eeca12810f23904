"""Unigram language models of what is said in shots, scenes and videos."""

from wordsight.retrieval.text.analysis import STOP_WORDS, Analyser, TextQuery, stemming_languages
from wordsight.retrieval.text.feedback import RelevanceFeedback, more_like_this, relevance_model
from wordsight.retrieval.text.index import (
    DEFAULT_SMOOTHING,
    LEVELS,
    PRIOR_WORDS,
    TEXT,
    TextIndex,
    TextPart,
    text_shards,
)
from wordsight.retrieval.text.model import LanguageModel, Ranking, TermEvidence
from wordsight.retrieval.text.postings import Levels, Postings, Terms
from wordsight.retrieval.text.shard import Shard
from wordsight.retrieval.text.smoothing import (
    Dirichlet,
    Interpolation,
    JelinekMercer,
    TextSmoothing,
    TwoStage,
    fit_mixing_weights,
    fit_two_stage,
)

__all__ = [
    "DEFAULT_SMOOTHING",
    "LEVELS",
    "PRIOR_WORDS",
    "STOP_WORDS",
    "TEXT",
    "Analyser",
    "Dirichlet",
    "Interpolation",
    "JelinekMercer",
    "LanguageModel",
    "Levels",
    "Postings",
    "Ranking",
    "RelevanceFeedback",
    "Shard",
    "TermEvidence",
    "Terms",
    "TextIndex",
    "TextPart",
    "TextQuery",
    "TextSmoothing",
    "TwoStage",
    "fit_mixing_weights",
    "fit_two_stage",
    "more_like_this",
    "relevance_model",
    "stemming_languages",
    "text_shards",
]
