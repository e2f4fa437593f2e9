"""Messages that kafka-python lacks, on its codec: a class here, its fields in the JSON beside it.

Such a class sends and reads versions from 0 to the highest that its JSON names. Kafka-python also
keeps one response class a key, the one defined last; nothing here asks it for one.
"""
