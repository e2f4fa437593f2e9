"""One bounded connection to one node of the cluster, and what it takes to open it.

errors says what can go wrong; properties, jaas, pem, tls and security turn a Kafka client file
into a ClientConfig; frames is the wire codec; dial, sasl and connection speak to one node;
race and bootstrap find a node that answers.
"""
