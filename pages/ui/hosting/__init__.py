"""Serving of the pages: middleware, the endpoint's routes, the start page, upload limits."""
