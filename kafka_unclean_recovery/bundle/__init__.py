"""An archive of all that tells of an outage, with an index, for people who are not at the cluster.
It has no password: client files are not in it, and no document or journal has one."""
