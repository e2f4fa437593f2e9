"""Salvaged records produced to a topic of the user's choice, each once.

What is produced, and what has been: see `records` and `checkpoint`. How: `producing`.
"""
