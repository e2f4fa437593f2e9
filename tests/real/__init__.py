"""Real Kafka clusters as JVM processes on loopback, and the outages made on them."""
