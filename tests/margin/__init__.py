"""watch: how many further failures partitions stand."""
