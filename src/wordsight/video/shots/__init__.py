"""Shot boundaries, fades and scenes."""
