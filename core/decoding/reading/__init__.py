"""Reading of a given text: what a model expected before each of its tokens."""
