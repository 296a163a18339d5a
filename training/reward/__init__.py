"""A small reward model: from a question and an attempt to how right the attempt looks."""
