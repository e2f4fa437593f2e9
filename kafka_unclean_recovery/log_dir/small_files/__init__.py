"""This package parses the small files that Kafka keeps beside its logs."""
