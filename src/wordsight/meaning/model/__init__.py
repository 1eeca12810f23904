"""Word models, the lexicon that holds them, and its files."""
