"""A figure drawn as SVG, PDF and PNG, with its fonts."""
