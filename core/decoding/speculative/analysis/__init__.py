"""Numbers about the drafts of a recorded run; torch-free."""
