"""Each request that is sent to brokers, as a function from values to values."""
