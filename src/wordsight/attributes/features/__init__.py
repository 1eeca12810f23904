"""Features of pictures and of recorded words."""
