"""The app's version."""

VERSION = "0.1.0"
"""As the changelog's top heading has it."""
