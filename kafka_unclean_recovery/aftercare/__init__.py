"""Aftercare looks for what an unclean election leaves behind, until nothing is left. Its verdicts,
its result and its tables do no I/O."""
