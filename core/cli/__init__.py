"""Command line: one module for each command and for each decoding method with extra options."""
