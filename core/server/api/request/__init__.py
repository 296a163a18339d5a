"""Read requests: the parameters of each API, and the plan made from them."""
