"""Where work runs: here, in processes or on a cluster; one item that fails harms no other."""

from wordsight.engine.base import (
    Engine,
    EngineError,
    HeldParts,
    ItemOutcome,
    Serial,
    create_engine,
    open_engine,
    send_note,
)
from wordsight.engine.processes import Processes, usable_cores

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
