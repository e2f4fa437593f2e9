"""The tails that an election would have live replicas truncate, saved before it.

Values flow one way: `losers` (who would lose what; pure), `fetching` (batches from the broker),
`fetched_log` (kept as a disk that holds nothing else), `saving` (that disk, salvaged),
`clearing` (what may be elected then; pure).
"""
