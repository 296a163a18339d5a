"""Training text made from a seed, one family a module."""
