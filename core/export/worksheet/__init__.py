"""A lesson as a worksheet to print."""
