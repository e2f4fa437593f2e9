"""This package is a reference controller: it has each of Kafka's rules of leadership once, and says
where the rule comes from. It imports only Kafka's names."""
