"""Replay the metadata log as a controller does when it loads it, to know where it would die."""
