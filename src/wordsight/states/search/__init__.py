"""Inference of states: segments by search, enumeration of all states, and greedy merging."""
