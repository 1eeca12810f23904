"""Alignment models, one file each; :class:`Ensemble` is the one to use."""
