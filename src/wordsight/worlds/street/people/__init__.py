"""The people of the street: their bodies, their looks and how they are painted."""
