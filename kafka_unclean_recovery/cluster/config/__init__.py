"""The settings of a Kafka client file, read into values."""
