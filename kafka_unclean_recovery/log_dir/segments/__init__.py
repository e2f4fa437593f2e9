"""Segments of a log: batches, and walks over them."""
