"""Evaluation of several ways of decoding on the same questions: plan, rows, statistics."""
