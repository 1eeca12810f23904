"""Regions: separating objects from the background without knowing their classes."""
