"""Each request that is sent to brokers is a function from values to values."""
