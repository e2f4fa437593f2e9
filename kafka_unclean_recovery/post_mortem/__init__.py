"""A post-mortem reads what a journal tells, and renders it as a page, as Markdown and as JSON. This
package does no I/O."""
