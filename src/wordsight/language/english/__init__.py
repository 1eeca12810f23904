"""Reading English as people write it: word forms, tags, events, and their words in a lexicon."""
