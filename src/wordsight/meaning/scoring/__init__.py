"""Inference: how well sentences explain a clip, given tracks or a lattice of detections."""
