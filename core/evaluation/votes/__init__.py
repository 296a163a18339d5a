"""Several attempts at a question, and rules that choose one answer among them."""
