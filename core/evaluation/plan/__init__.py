"""Ways of decoding over the same questions: the plan, its rows, and what they say."""
