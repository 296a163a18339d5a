"""The app's version."""

VERSION = "0.1.0"
"""Version of the app, equal to the top heading of the changelog."""
