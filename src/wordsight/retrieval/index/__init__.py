"""The index on disk: segments of documents, written one video at a time, mapped when read."""
