"""Where work runs: here or in processes; one item that fails or crashes harms no other."""

from wordsight.engine.notes import tell
from wordsight.engine.outcome import Engine, EngineError, Outcome
from wordsight.engine.processes import Processes, usable_cores
from wordsight.engine.serial import Serial

__all__ = ["Engine", "EngineError", "Outcome", "Processes", "Serial", "tell", "usable_cores"]
