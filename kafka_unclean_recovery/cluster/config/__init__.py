"""What a Kafka client file says, read into values."""
