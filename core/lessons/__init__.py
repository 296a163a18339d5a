"""Lessons of the course: their file format, and the facts of a run that their sentences name."""
