"""A bulk scan is a few jobs one after the other, and the work of their tasks."""
