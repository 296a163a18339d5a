"""How fast the project is, against transformers' own `generate`, side by side in one run."""
