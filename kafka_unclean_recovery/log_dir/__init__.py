"""The log_dir package reads Kafka's files on disk, and never writes there."""
