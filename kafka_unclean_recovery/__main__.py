"""Run the command line as `python -m kafka_unclean_recovery`."""

from kafka_unclean_recovery.cli.start import unclean_recovery

unclean_recovery()
