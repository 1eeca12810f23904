"""Drawing on frames: text, boxes, tracks, captions, overlays and contact sheets."""
