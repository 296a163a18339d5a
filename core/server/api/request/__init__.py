"""Read requests: the parameters of each API, and the plan that they make."""
