"""This package takes clients' requests off their connections, and intercepts them or hands them to
their APIs."""
