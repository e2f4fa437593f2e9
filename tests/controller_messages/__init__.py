"""What brokers say to the controller, for the comparison with a real one."""
