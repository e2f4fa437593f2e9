"""The journal, and the files and directories that are for their owner alone."""
