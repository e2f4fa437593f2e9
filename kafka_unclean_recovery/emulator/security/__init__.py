"""This package secures the listeners: TLS and SASL let clients in, and rights limit their
requests."""
