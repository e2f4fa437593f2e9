"""This package tells in which order to start brokers that are all down, and when to elect in
between."""
