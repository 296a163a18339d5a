"""Run requests: the model, its turn, and the parts of the answer as they come."""
