"""The metadata log of KRaft, read from disk."""
