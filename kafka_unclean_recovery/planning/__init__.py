"""Which replica should lead, what electing it loses, and what to weigh. Pure: no I/O, no clock."""
