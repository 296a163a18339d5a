"""Figures of two runs."""
