"""This package emulates a broker: replicas and their logs, replication, producers, groups."""
