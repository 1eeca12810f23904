"""Methods that only experiments compare with."""
