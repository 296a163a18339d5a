"""The Evaluate page: which ways of decoding answer questions right."""
