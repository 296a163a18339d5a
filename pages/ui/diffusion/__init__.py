"""The page of masked diffusion."""
