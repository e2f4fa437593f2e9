module kafka-unclean-recovery/launcher

go 1.22
