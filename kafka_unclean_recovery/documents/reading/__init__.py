"""JSON and properties files, read strictly, and values written as JSON. Pure."""
