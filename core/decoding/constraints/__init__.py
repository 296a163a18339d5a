"""Constraints on the generated text: choices, regular expressions, JSON schemas and grammars."""
