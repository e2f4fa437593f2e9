"""This package reads the segments of a log: their batches, and walks over them."""
