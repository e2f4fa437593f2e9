"""The command line: commands parse flags, call the other packages, render the result and exit.

Only this package prints, asks questions, opens files that the user names, and ends the process.
Nothing heavy is imported before the flags are checked, so --help answers at once.
"""
