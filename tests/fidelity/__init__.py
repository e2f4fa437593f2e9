"""A real KRaft controller and ours, driven by the same events and compared after each."""
