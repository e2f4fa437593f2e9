"""This package adds messages that kafka-python lacks to its codec: a class here, its fields in the
JSON beside it.

Such a class sends and reads versions from 0 to the highest that its JSON names. kafka-python keeps
one response class per key, the one defined last; nothing here asks it for one.
"""

from kafka_unclean_recovery.messages.only_codec import keep_clients_out

keep_clients_out()
