"""One bounded connection to one node of the cluster, and what it takes to open it.

errors says what can go wrong; properties, config_providers, jaas, pem, tls, oauth_settings and
security turn a Kafka client file into a ClientConfig; oauth_tokens fetches tokens, by http_post
where an endpoint gives them; frames is the wire codec; dial, sasl and connection speak to one node;
race and bootstrap find a node that answers.
"""
