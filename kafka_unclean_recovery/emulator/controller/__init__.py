"""A reference controller: Kafka's rules of leadership, each once, with where it comes from."""
