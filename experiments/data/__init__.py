"""Loaders of the data sets the experiments measure on; the data is not part of the project."""
