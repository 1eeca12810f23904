"""Video in and out: frames with true time stamps, shots, flow, drawing, writing."""

from wordsight.video.contact_sheet import contact_sheet, shot_sheet, write_contact_sheet
from wordsight.video.drawing import draw_caption, draw_detections, draw_tracks
from wordsight.video.flow import FlowMeter
from wordsight.video.frame import Frame
from wordsight.video.images import read_image, write_image
from wordsight.video.overlay import render_overlay
from wordsight.video.palette import colour_of, text_colour_on
from wordsight.video.reader import VideoInfo, VideoReader
from wordsight.video.sampling import Sampler
from wordsight.video.scenes import detect_scenes, group_scenes
from wordsight.video.shots import ShotFinder, detect_shots
from wordsight.video.writer import VideoWriter

__all__ = [
    "FlowMeter",
    "Frame",
    "Sampler",
    "ShotFinder",
    "VideoInfo",
    "VideoReader",
    "VideoWriter",
    "colour_of",
    "contact_sheet",
    "detect_scenes",
    "detect_shots",
    "draw_caption",
    "draw_detections",
    "draw_tracks",
    "group_scenes",
    "read_image",
    "render_overlay",
    "shot_sheet",
    "text_colour_on",
    "write_contact_sheet",
    "write_image",
]
