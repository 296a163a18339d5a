"""The page Read: a text of one's own, read by a model."""
