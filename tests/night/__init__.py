"""All that can be tried, part by part: `make test-all`, for a night and before a release."""
