"""Requests: what clients ask of the endpoint, watched as it is decoded."""
