"""Comparison of two runs: the first token that differs, and the cause."""
