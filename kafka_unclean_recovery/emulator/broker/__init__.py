"""A broker of the emulation: replicas and their logs, replication, producers, groups."""
