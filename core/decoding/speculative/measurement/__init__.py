"""Measurements of speculative decoding: rates, times, the run without a draft."""
