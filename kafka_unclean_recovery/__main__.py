"""Run the command line as `python -m kafka_unclean_recovery`."""

from kafka_unclean_recovery.cli.commands.unclean_recovery import main

main()
