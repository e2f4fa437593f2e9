"""Kafka's files on disk, only ever read."""
