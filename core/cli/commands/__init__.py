"""Commands of `python -m core`, a module each."""
