"""Checks of a speculative trace, with its own numbers and with the models."""
