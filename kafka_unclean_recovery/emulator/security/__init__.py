"""Who gets into a listener, and what each may ask: TLS, SASL, rights."""
