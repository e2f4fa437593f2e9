"""The tails that an election would make live replicas truncate are saved before the election.

Values flow one way: `losers` (which replicas would lose what), `fetching` (batches from the
broker), `fetched_log` (these batches as a disk that holds nothing else), `saving` (the salvage of
that disk), `clearing` (the elections that may then go ahead). `losers` and `clearing` do no I/O.
"""
