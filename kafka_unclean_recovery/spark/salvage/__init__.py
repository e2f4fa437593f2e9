"""Salvage in bulk: a replica a task."""
