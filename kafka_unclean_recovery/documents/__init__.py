"""The JSON that is written and read: a module a document has its types, of which schemas/ is
generated, and what reads and writes it."""
