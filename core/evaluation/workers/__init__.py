"""Distribute runs over processes, threads, or the machines of a Ray cluster."""
