"""This package writes, reads and damages an emulated cluster's files, which are as Kafka's."""
