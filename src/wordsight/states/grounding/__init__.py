"""From tracks to ground clauses: boxes, features, and rules instantiated over objects."""
