"""Figures of runs that a second forward or a watermark guides."""
