"""What electing the designated leader destroys, and disks still hold: found, read, written.

Values flow one way: `earlier` (what scans spare), `ranges` (what is beyond the leader's log),
`tail` (the batches that hold it), `transactions`, `records` (batches decoded), `raw_segments` and
`parquet` (files, by `layout`), `manifest`.
"""
