"""The catalogue of a library: its SQL tables, queries, updates and migrations."""
