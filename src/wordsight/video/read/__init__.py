"""Reading video files: containers, time stamps, decoding, frames and optical flow."""
