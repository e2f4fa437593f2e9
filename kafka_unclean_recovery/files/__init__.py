"""What is read and written: plans, partitions, scans, approvals, journals."""
