"""The commands: their flags, as dataclasses that import nothing heavy, and their help."""
