"""What the emulated brokers answer: one file an API, so that the listing is the table."""
