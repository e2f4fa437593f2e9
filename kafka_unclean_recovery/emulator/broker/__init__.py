"""This package emulates a broker: its replicas and their logs, replication, producers and
groups."""
