"""The cluster package talks to the nodes of one cluster.

config turns a Kafka client file into a ClientConfig; wire opens one bounded connection to one node;
requests has one function for each request; nodes keeps the connections to all nodes; reading reads
through any broker that answers; quorum sends requests to the controller, and finds out what it did.
"""

# Before any other import of kafka-python: without its clients.
import kafka_unclean_recovery.messages  # noqa: F401
