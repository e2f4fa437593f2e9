"""What an unclean election leaves behind, and whether it is over: pure but for looking.py and
ending.py."""
