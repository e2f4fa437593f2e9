"""Every reachable state of one partition on a few brokers: the real controller state machine
together with a small model of the logs, and what holds in each of them."""
