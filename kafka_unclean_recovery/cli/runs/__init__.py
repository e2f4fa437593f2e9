"""Each module does the work of one command, after the flags are parsed."""
