"""What is done with the things of the workbench to carry out a sentence, a few deeds in each file.

See the guide to worlds for how to add one.
"""

from wordsight.worlds.workbench.deeds import handling, pouring, tools
from wordsight.worlds.workbench.deeds.deed import DEEDS, Deed

__all__ = ["DEEDS", "Deed", "handling", "pouring", "tools"]
