"""Small simulated places, rendered into real videos whose truth is known."""

from wordsight.worlds.camera import Effects
from wordsight.worlds.checks import WorldError
from wordsight.worlds.film import RenderedFilm, world_sheet
from wordsight.worlds.folder import write_world
from wordsight.worlds.street import street
from wordsight.worlds.tabletop import tabletop
from wordsight.worlds.workbench import workbench

__all__ = [
    "Effects",
    "RenderedFilm",
    "WorldError",
    "street",
    "tabletop",
    "workbench",
    "world_sheet",
    "write_world",
]
