"""The factored lattice: joint inference over tracks of participants and states of words."""
