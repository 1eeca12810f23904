"""Learning of rules, their weights and the transition cost from labelled videos."""
