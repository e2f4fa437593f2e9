"""This package reads the metadata log of KRaft from disk."""
