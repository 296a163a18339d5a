"""The pages of the app: a script each."""
