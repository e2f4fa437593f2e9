"""The phases of a recovery: look, plan, settle what needs no election, ask, and verify."""
