"""Figures of many runs of one prompt."""
