"""The OpenAI-compatible endpoint: requests in, runs of the engine, answers and events out."""
