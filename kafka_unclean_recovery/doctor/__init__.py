"""What stands in the way of a recovery, found without changing anything.

facts: what was seen, as values. examine asks for it, the only part with I/O. Everything else is
pure: brokers, controllers, partitions, rights and room make checks of the facts; report renders.
"""
