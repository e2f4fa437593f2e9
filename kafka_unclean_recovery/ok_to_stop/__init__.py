"""This package tells whether brokers may be stopped: it looks at the cluster, lets the reference
controller decide on a copy of what it saw, and names what would be lost. It also counts how many
further failures each partition stands."""
