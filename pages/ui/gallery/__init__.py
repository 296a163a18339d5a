"""Static site of the stored examples of all pages."""
