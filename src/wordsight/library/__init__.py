"""A collection on disk: its catalogue in SQL, the files beside it, and work that can be resumed."""
