"""One connection to one node opens, logs in and asks, with every wait bounded."""
