"""For spark-submit, with the words of the command behind it:

spark-submit examples/spark_submit.py spark scan /mnt/disks --output /shared/scan
"""

from kafka_unclean_recovery.cli.commands.unclean_recovery import main

main()
