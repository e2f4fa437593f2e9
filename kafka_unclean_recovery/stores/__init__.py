"""This package reads log directories in an object store or in HDFS, through pyarrow.fs.

pyarrow is imported only when a location is opened.
"""
