"""Commits of consumer groups that an election lost are found in a salvage, and brought back."""
