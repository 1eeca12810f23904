"""Video in and out: frames with true time stamps, shots, flow, drawing, writing."""

from wordsight.video.writer import VideoWriter

__all__ = ["VideoWriter"]
