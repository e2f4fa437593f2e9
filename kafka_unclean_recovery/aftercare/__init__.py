"""Aftercare looks for what an unclean election leaves behind, until nothing is left. Only
comparing, ending, looking and watching wait for brokers; the other modules do no I/O."""
