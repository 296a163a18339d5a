"""Questions with known answers: scoring, votes, evaluations and budget sweeps."""
