"""What a journal tells afterwards: read, and rendered as a page, as Markdown and as JSON. Pure."""
