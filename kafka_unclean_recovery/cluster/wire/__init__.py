"""One bounded connection to one node: to open it, to log in, to ask."""
