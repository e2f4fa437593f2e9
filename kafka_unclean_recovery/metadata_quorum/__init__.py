"""This package recovers the metadata quorum of KRaft: it compares the copies of the metadata log,
chooses the best, and writes the log directory of a controller that begins from it."""
