"""Kernels compiled by numba; importing a module of this package imports numba."""
