"""What the embedded models must show, measured."""
