"""Where work runs: here, in processes or on a cluster; one item that fails harms no other."""

from wordsight.engine.base import Engine, EngineError, HeldParts, ItemOutcome, send_note
from wordsight.engine.create import create_engine, open_engine
from wordsight.engine.processes import Processes, usable_cores
from wordsight.engine.serial import Serial

__all__ = [
    "Engine",
    "EngineError",
    "HeldParts",
    "ItemOutcome",
    "Processes",
    "Serial",
    "create_engine",
    "open_engine",
    "send_note",
    "usable_cores",
]
