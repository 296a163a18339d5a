"""The masked diffusion model: its rows, loss, training and measurements."""
