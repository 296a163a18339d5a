"""Figures of evaluations: accuracy of each way of decoding, and agreement between ways."""
