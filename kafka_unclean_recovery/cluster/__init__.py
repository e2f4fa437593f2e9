"""The cluster package talks to the nodes of one cluster.

config turns a Kafka client file into a ClientConfig; wire opens one bounded connection to one node;
requests has one function for each request; nodes keeps the connections to all nodes, members knows
which to ask, and identity who answers; controller sends requests to the controller, by the ways
that controller_ways finds, and finds out what became of them.
"""

# Before any other import of kafka-python: without its clients.
import kafka_unclean_recovery.messages  # noqa: F401
