"""Contrastive decoding of a target and a draft model."""
