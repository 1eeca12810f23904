"""Chains with one hidden state per time step: HMMs, bounded jumps, semi-Markov chains, DTW."""
