"""Before a broker starts: what its start will do to each replica on its disk. Only `disk` and
`looking` do I/O; the verdicts are pure."""
