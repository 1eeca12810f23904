"""Events defined by phases of states: their definitions and where they occur."""
