"""What an emulated cluster keeps on disk, as Kafka writes it, and what damages it."""
