"""Run requests: load the model, wait for the turn, and send the parts of the answer."""
