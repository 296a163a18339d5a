"""OpenAI-compatible endpoint: it reads requests, runs the engine, and writes answers and events."""
