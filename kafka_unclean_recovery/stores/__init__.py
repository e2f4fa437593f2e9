"""Log directories that lie in an object store or in HDFS, read through pyarrow.fs.

Nothing is imported of pyarrow before something is opened.
"""
