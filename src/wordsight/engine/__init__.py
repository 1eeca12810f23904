"""Where work runs: here, in processes or on a cluster; one item that fails harms no other."""

from wordsight.engine.choosing import find_engine, working_with
from wordsight.engine.held import Held
from wordsight.engine.notes import tell
from wordsight.engine.outcome import Engine, EngineError, Outcome
from wordsight.engine.processes import Processes, usable_cores
from wordsight.engine.serial import Serial

__all__ = [
    "Engine",
    "EngineError",
    "Held",
    "Outcome",
    "Processes",
    "Serial",
    "find_engine",
    "tell",
    "usable_cores",
    "working_with",
]
