"""The draft head of the embedded target: its loss and training."""
