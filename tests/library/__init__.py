"""The library as its users see it: the wheel, the public names, the schema of a trace."""
