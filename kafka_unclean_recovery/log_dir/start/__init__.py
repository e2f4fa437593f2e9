"""What Kafka makes of a log directory when a broker starts on it."""
