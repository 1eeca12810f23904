"""The kinds of steps that protocols are written with, a few in each file."""

from wordsight.worlds.workbench.steps import (
    labelling,
    measuring,
    mixing,
    moving,
    pipetting,
    tidying,
    weighing,
)
from wordsight.worlds.workbench.story import KINDS

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
