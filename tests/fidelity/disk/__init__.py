"""Log directories in random states, opened by Kafka's own classes and judged by us."""
