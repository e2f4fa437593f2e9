"""This package secures the listeners by TLS, SASL and the rights of each client."""
