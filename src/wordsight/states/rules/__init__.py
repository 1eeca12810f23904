"""The language of states: facts, weighted Horn rules and the vocabulary they use."""
