"""This package answers requests, with one file per API, so that the listing is the table."""
