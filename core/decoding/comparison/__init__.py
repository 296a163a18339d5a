"""Comparison of two runs: where their tokens part, and why."""
