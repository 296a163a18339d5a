"""Scores of replies: text metrics, numbers, and the reference's log-likelihood."""
