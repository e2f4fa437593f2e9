"""Plan which replica should lead, what electing it loses, and what to weigh; no I/O, no clock."""
