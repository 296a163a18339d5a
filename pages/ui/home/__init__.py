"""Home: one prompt decoded by every method, and the ways into the app."""
