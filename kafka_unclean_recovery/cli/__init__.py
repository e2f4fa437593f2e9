"""The command line: commands parse flags, call the other packages, render the result and exit.

Only this package prints, asks questions, opens files that the user names, and ends the process.
The module start answers --help at once; the work of a command is imported when a line names it.
"""

RECOVERY, ELECTION = "kafka-unclean-recovery", "kafka-elect-leaders"
"""The names of the two programs."""
