"""Workflows: one function per verb, called by the command line, the studio and Python alike."""

from wordsight.workflows.found_moments import FoundMoment
from wordsight.workflows.reporter import RecordingReporter, Reporter
from wordsight.workflows.search_query import SearchQuery
from wordsight.workflows.searcher import Searcher

__all__ = ["FoundMoment", "RecordingReporter", "Reporter", "SearchQuery", "Searcher"]
