"""Small simulated places, rendered into real videos whose truth is known."""

from wordsight.worlds.effects import Effects
from wordsight.worlds.errors import WorldError
from wordsight.worlds.film import Film
from wordsight.worlds.folder import write_world
from wordsight.worlds.sheet import world_sheet
from wordsight.worlds.street import street
from wordsight.worlds.tabletop import tabletop
from wordsight.worlds.workbench import workbench

__all__ = [
    "Effects",
    "Film",
    "WorldError",
    "street",
    "tabletop",
    "workbench",
    "world_sheet",
    "write_world",
]
