"""The names of the kinds of artefact that the library itself makes and understands."""

__all__ = ["CODEBOOK", "DETECTIONS", "ORIGINAL", "THUMBNAIL"]

DETECTIONS = "detections"
"""What a detector saw in a video."""

THUMBNAIL = "thumbnail"
"""A small picture of a video."""

ORIGINAL = "original"
"""A copy of the video itself."""

CODEBOOK = "codebook"
"""The library's vocabulary of region appearances."""
