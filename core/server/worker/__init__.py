"""Process that runs the models, apart from the process that draws pages and answers requests."""
