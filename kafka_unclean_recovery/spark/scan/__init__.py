"""A bulk scan: jobs one after the other, and what their tasks do."""
