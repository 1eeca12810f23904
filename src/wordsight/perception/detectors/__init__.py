"""Detectors, loaded by name through entry points, and the functions that run them on videos."""
