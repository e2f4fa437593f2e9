"""Each command is declared here: its flags, as a dataclass that imports nothing heavy, and its
help."""
