"""This package tells how many further failures the partitions of a cluster stand, look by look."""
