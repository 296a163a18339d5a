"""Questions with reference answers: the project's own, and files of one's own."""
