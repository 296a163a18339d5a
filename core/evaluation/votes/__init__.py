"""Several attempts at a question, and the rules that choose one answer among them."""
