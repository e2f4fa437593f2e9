"""The survey of a live cluster."""
