"""Recall: the words of each attribute for a new picture or for detections in a video."""
