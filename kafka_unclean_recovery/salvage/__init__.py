"""A salvage finds, reads and writes the records that electing the designated leader destroys and
that disks still hold.

Values flow one way: `earlier` (replicas that earlier scans spare), `ranges` (offsets that the
leader's log lacks), `tail` (the batches that hold these offsets), `transactions`, `records`
(batches decoded), `raw_segments` and `parquet` (files, placed by `layout`), `manifest`.
"""
