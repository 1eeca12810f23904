"""The kinds of steps that protocols are written with, a few in each file."""

from wordsight.worlds.workbench.protocol import KINDS
from wordsight.worlds.workbench.steps import (
    labelling,
    measuring,
    mixing,
    moving,
    pipetting,
    tidying,
    weighing,
)

__all__ = [
    "KINDS",
    "labelling",
    "measuring",
    "mixing",
    "moving",
    "pipetting",
    "tidying",
    "weighing",
]
