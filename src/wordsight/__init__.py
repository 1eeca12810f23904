"""Wordsight learns language from video described with plain sentences.

Each verb of the command line is a function here, with the same settings and the same result::

    import wordsight

    words = wordsight.learn("wordsight-library")
    moments = wordsight.search("wordsight-library", "The person picked up the backpack.")

The names below load their module on first use, so ``import wordsight`` stays cheap.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from wordsight.errors import WordsightError
    from wordsight.library import Library
    from wordsight.records import Clip, Detections, Sentence, Track, Word
    from wordsight.workflows.add import add
    from wordsight.workflows.align import align
    from wordsight.workflows.convert import convert
    from wordsight.workflows.demo import demo
    from wordsight.workflows.describe import describe
    from wordsight.workflows.detect import detect, shots
    from wordsight.workflows.detectors import doctor
    from wordsight.workflows.evaluate import evaluate, evaluate_words
    from wordsight.workflows.evaluate_steps import evaluate_steps
    from wordsight.workflows.explain import explain
    from wordsight.workflows.export import export, import_annotations
    from wordsight.workflows.index import index
    from wordsight.workflows.learn import learn
    from wordsight.workflows.learn_states import learn_states
    from wordsight.workflows.lexicon import lexicon
    from wordsight.workflows.name import name
    from wordsight.workflows.score import score
    from wordsight.workflows.search import search
    from wordsight.workflows.states import (
        explain_state,
        find_events,
        infer_states,
        state_rules,
    )
    from wordsight.workflows.teach import teach
    from wordsight.workflows.track import track
    from wordsight.workflows.watch import watch
    from wordsight.workflows.world import render_street, render_tabletop, render_workbench

_HOME_OF = {
    "Clip": "wordsight.records",
    "Detections": "wordsight.records",
    "Library": "wordsight.library",
    "Sentence": "wordsight.records",
    "Track": "wordsight.records",
    "Word": "wordsight.records",
    "WordsightError": "wordsight.errors",
    "add": "wordsight.workflows.add",
    "align": "wordsight.workflows.align",
    "convert": "wordsight.workflows.convert",
    "demo": "wordsight.workflows.demo",
    "describe": "wordsight.workflows.describe",
    "detect": "wordsight.workflows.detect",
    "doctor": "wordsight.workflows.detectors",
    "evaluate": "wordsight.workflows.evaluate",
    "evaluate_steps": "wordsight.workflows.evaluate_steps",
    "evaluate_words": "wordsight.workflows.evaluate",
    "explain": "wordsight.workflows.explain",
    "explain_state": "wordsight.workflows.states",
    "export": "wordsight.workflows.export",
    "find_events": "wordsight.workflows.states",
    "import_annotations": "wordsight.workflows.export",
    "index": "wordsight.workflows.index",
    "infer_states": "wordsight.workflows.states",
    "learn": "wordsight.workflows.learn",
    "learn_states": "wordsight.workflows.learn_states",
    "lexicon": "wordsight.workflows.lexicon",
    "name": "wordsight.workflows.name",
    "render_street": "wordsight.workflows.world",
    "render_tabletop": "wordsight.workflows.world",
    "render_workbench": "wordsight.workflows.world",
    "score": "wordsight.workflows.score",
    "search": "wordsight.workflows.search",
    "shots": "wordsight.workflows.detect",
    "state_rules": "wordsight.workflows.states",
    "teach": "wordsight.workflows.teach",
    "track": "wordsight.workflows.track",
    "watch": "wordsight.workflows.watch",
}

__all__ = [
    "Clip",
    "Detections",
    "Library",
    "Sentence",
    "Track",
    "Word",
    "WordsightError",
    "__version__",
    "add",
    "align",
    "convert",
    "demo",
    "describe",
    "detect",
    "doctor",
    "evaluate",
    "evaluate_steps",
    "evaluate_words",
    "explain",
    "explain_state",
    "export",
    "find_events",
    "import_annotations",
    "index",
    "infer_states",
    "learn",
    "learn_states",
    "lexicon",
    "name",
    "render_street",
    "render_tabletop",
    "render_workbench",
    "score",
    "search",
    "shots",
    "state_rules",
    "teach",
    "track",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in _HOME_OF:
        return getattr(import_module(_HOME_OF[name]), name)
    raise AttributeError(f"module 'wordsight' has no attribute {name!r}")
