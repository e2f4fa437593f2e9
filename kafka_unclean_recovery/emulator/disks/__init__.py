"""This package writes an emulated cluster's files as Kafka does, reads them back and damages
them."""
