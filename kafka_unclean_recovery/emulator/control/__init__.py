"""What a test or an operator does to the emulated cluster, and what it shows."""
