"""The work of each command, once its flags are parsed."""
