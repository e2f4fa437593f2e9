"""Recover offline Kafka partitions by electing the replica that loses least."""

__version__ = "0.1.0"
