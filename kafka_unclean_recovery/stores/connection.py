"""Each store has one client per process here, with a bound on how long it tries."""

from __future__ import annotations

import os
from datetime import timedelta
from functools import lru_cache
from typing import Any

from pyarrow import fs

from kafka_unclean_recovery.log_dir.tree import Unreadable
from kafka_unclean_recovery.stores.messages import why
from kafka_unclean_recovery.stores.store_options import StoreOptions

_fs: Any = fs

# The az command uses these names; without them azure-identity's own chain finds credentials.
_AZURE_KEY = "AZURE_STORAGE_KEY"
_AZURE_SAS = "AZURE_STORAGE_SAS_TOKEN"


def connected(scheme: str, authority: str, options: StoreOptions) -> tuple[Any, str]:
    """Return (a pyarrow filesystem, the path before the URI's own in it). Raises Unreadable."""
    try:
        # A client does not live on in a process that was forked from its own.
        return _connected(scheme, authority, options, os.getpid())
    except AttributeError:
        raise Unreadable(f"this pyarrow was built without {scheme}") from None
    except (OSError, ValueError) as error:
        raise Unreadable(f"{scheme}: {why(error)}{_HINTS.get(scheme, '')}") from None


_HINTS = {
    "hdfs": "; hdfs needs Hadoop's libhdfs.so and a JVM on every machine that reads (HADOOP_HOME or"
    " ARROW_LIBHDFS_DIR, JAVA_HOME, CLASSPATH as `hadoop classpath --glob` prints it)"
}


@lru_cache(maxsize=16)
def _connected(
    scheme: str, authority: str, options: StoreOptions, _process: int
) -> tuple[Any, str]:
    match scheme:
        case "s3":
            return _s3(options), authority
        case "gs":
            return _gs(options), authority
        case "abfs":
            container, _, host = authority.partition("@")
            return _abfs(host, options), container
        case _:
            return _hdfs(authority), ""


def _s3(options: StoreOptions) -> Any:
    return _fs.S3FileSystem(
        endpoint_override=options.endpoint,
        region=options.region,
        connect_timeout=options.timeout_seconds,
        request_timeout=options.timeout_seconds,
        retry_strategy=_fs.AwsStandardS3RetryStrategy(max_attempts=options.attempts),
    )


def _gs(options: StoreOptions) -> Any:
    scheme, host = _endpoint(options)
    limit = timedelta(seconds=options.timeout_seconds * options.attempts)
    return _fs.GcsFileSystem(scheme=scheme, endpoint_override=host, retry_time_limit=limit)


def _abfs(host: str, options: StoreOptions) -> Any:
    account, _, domain = host.partition(".")
    scheme, endpoint = _endpoint(options)
    blob = None if endpoint is not None else f".{domain.replace('dfs.', 'blob.', 1)}"
    return _fs.AzureFileSystem(
        account_name=account,
        account_key=os.environ.get(_AZURE_KEY),
        sas_token=os.environ.get(_AZURE_SAS),
        blob_storage_authority=endpoint or blob,
        dfs_storage_authority=endpoint or f".{domain}",
        blob_storage_scheme=scheme,
        dfs_storage_scheme=scheme,
    )


def _hdfs(authority: str) -> Any:
    user, _, address = authority.rpartition("@")
    host, _, port = address.partition(":")
    return _fs.HadoopFileSystem(host, int(port or 8020), user=user or None)


def _endpoint(options: StoreOptions) -> tuple[str | None, str | None]:
    """Return (scheme, host and port) of the endpoint."""
    if options.endpoint is None:
        return None, None
    scheme, _, host = options.endpoint.rstrip("/").partition("://")
    return scheme, host
