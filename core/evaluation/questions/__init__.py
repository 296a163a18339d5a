"""Questions with reference answers: the project's own sets, and the user's files."""
