"""Scores of replies: text metrics, numbers, and the log-likelihood of the reference."""
