"""Video in and out: frames with true time stamps, shots, flow, drawing, writing."""

from wordsight.video.draw.boxes import draw_caption, draw_detections, draw_tracks
from wordsight.video.draw.contact_sheet import contact_sheet, shot_sheet, write_contact_sheet
from wordsight.video.draw.overlay import render_overlay
from wordsight.video.draw.text import colour_of, text_colour_on
from wordsight.video.images import encode_jpeg, read_image, write_image
from wordsight.video.read.frame import FlowMeter, Frame
from wordsight.video.read.live import LiveSource
from wordsight.video.read.reader import Sampler, VideoInfo, VideoReader
from wordsight.video.read.recent import RecentFrames
from wordsight.video.shots.detect import ShotFinder, detect_scenes, detect_shots
from wordsight.video.shots.scenes import group_scenes
from wordsight.video.write import VideoWriter

__all__ = [
    "FlowMeter",
    "Frame",
    "LiveSource",
    "RecentFrames",
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
    "encode_jpeg",
    "group_scenes",
    "read_image",
    "render_overlay",
    "shot_sheet",
    "text_colour_on",
    "write_contact_sheet",
    "write_image",
]
