"""For spark-submit, with the words of the command behind it:

spark-submit examples/spark_submit.py spark scan /mnt/disks --output /shared/scan
"""

from kafka_unclean_recovery.cli.start import unclean_recovery

unclean_recovery()
