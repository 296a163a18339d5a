"""How the embedded models are made."""
