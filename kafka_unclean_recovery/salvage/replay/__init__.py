"""A replay produces salvaged records to a topic of the user's choice, each record once.

`records` tells what is produced, `checkpoint` what has been produced, and `producing` sends it.
"""
