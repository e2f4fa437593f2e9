"""Completion scripts, written from the commands by generate.py."""
