"""Video in and out: frames with true time stamps, shots, flow, drawing, writing."""

from wordsight.video.frame import Frame
from wordsight.video.reader import VideoInfo, VideoReader
from wordsight.video.writer import VideoWriter

__all__ = ["Frame", "VideoInfo", "VideoReader", "VideoWriter"]
