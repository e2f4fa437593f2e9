"""The doctor finds what stands in the way of a recovery, without changing anything.

`facts` holds what was seen, as values. `examine` asks for it, and is the only module with I/O.
`brokers`, `controllers`, `partitions`, `rights` and `room` make checks of the facts, `diagnosis`
collects and renders them.
"""
