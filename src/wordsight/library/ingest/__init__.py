"""Adding videos: find them, plan the work, scan each video, enter the results."""
