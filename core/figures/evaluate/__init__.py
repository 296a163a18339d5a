"""Figures of evaluations: which ways of decoding answer right, and which agree."""
