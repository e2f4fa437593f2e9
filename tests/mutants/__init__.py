"""Is a change of the code that decides seen by a test? Mutants, and who survives."""
