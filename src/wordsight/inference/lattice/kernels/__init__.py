"""The lattice recursions compiled by numba. Import them where needed: numba takes seconds."""
