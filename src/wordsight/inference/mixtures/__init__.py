"""Gaussian mixtures with diagonal covariances, fitted many at once."""
