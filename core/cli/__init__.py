"""The command line: a command a module, a decoding method a module."""
