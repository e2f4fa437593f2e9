"""The small files that Kafka keeps beside its logs."""
