"""Spark tells in dozens of lines of a JVM why a job failed; an operator needs one sentence.

Its texts are those of org.apache.spark.scheduler.TaskSetManager (Lost task ... (TID N) (HOST
executor ID)) and of pyspark.worker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from pyspark.sql import SparkSession

from kafka_unclean_recovery.spark.shipping import HOST, is_connect

_LOST = re.compile(r"\(TID \d+\) \((\S+) executor (\S+)\)")
_NOTED = re.compile(rf"^{re.escape(HOST)}(\S+)$", re.MULTILINE)
# The pattern matches the last line of a Python traceback.
_ERROR_LINE = re.compile(r"[A-Za-z_.]+(Error|Exception|Unreadable): ")
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '(pyarrow|pandas|numpy|pyspark)\b")
_NO_PYTHON = re.compile(r'Cannot run program "([^"]+)"')
# What py4j says of a JVM that has gone; after an OutOfMemoryError Spark ends it.
_GONE = re.compile(r"An error occurred while calling [\w.]+\Z|Answer from Java side is empty")
_CALLING = re.compile("An error occurred while calling ")
_CAUSE = "Caused by: "
# So Spark calls the one executor of a local session.
_DRIVER = "driver"
_BY_FLAG = "--conf spark.pyspark.python=PATH"


def whole(error: Exception) -> str:
    """Return all that Spark said of an error, with the trace of the JVM, which PySpark keeps apart
    (pyspark.errors.exceptions.captured)."""
    told, trace = str(error), str(getattr(error, "_stackTrace", None) or "")
    return told if trace in told else f"{told}\n\n{trace}"


def without_host(text: str) -> str:
    """Return the text without what the task told of its host, where there is one host alone."""
    return _NOTED.sub("", text)


def sentence(text: str, lacking: Callable[[str], Sequence[str]]) -> str:
    """Return one line on a failure, with the host of the task that failed last where that is known.
    text: all that Spark said. lacking: tells which Pythons lack a module."""
    host = _host(text)
    if found := _NO_MODULE.search(text):
        who = ", ".join(lacking(found[1])) or "the Python of an executor"
        return (
            f"{who} has no {found[1]}, and executors need pyspark, pyarrow and pandas: install them"
            f" there, or name a Python that has them ({_BY_FLAG})"
        )
    if found := _NO_PYTHON.search(text):
        return (
            f"there is no {found[1]}{f' on {host}' if host else ''}: name a Python that all"
            f" executors have ({_BY_FLAG})"
        )
    if "java.lang.OutOfMemoryError" in text or _GONE.search(text.strip()):
        whose, which = (f"an executor on {host}", "executor") if host else ("the driver", "driver")
        ended = "" if host else ", or has ended"
        return (
            f"the JVM of {whose} has too little memory{ended}: give it more"
            f" (--conf spark.{which}.memory=4g)"
        )
    return f"{f'on {host}: ' if host else ''}{_last(text)}"


def _host(text: str) -> str | None:
    if lost := _LOST.findall(text):
        host, executor = lost[-1]
        return None if executor == _DRIVER else host
    return next(iter(_NOTED.findall(text)[-1:]), None)


def _last(text: str) -> str:
    """Return the last line of a Python traceback in the text, else the last cause that a JVM tells,
    else the first line that tells something."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    told = [line for line in lines if _ERROR_LINE.match(line)]
    causes = [line.removeprefix(_CAUSE) for line in reversed(lines) if line.startswith(_CAUSE)]
    # py4j's own line comes before the error of the JVM.
    first = [line.removeprefix(": ") for line in lines if not _CALLING.match(line)]
    return next(iter(told or causes or first or lines), "")


def pythons_without(spark: SparkSession, module: str, tasks: int) -> list[str]:
    """Ask in so many tasks which Pythons of executors lack a module, and on which hosts. Without
    pyarrow there no data frame can tell; over Spark Connect there is nothing else, and the list is
    empty."""
    if is_connect(spark):
        return []

    def look(_: Iterable[int]) -> Iterator[str]:
        import os
        import sys
        from importlib.util import find_spec

        if find_spec(module) is None:
            yield f"{sys.executable} of {os.uname().nodename}"

    try:
        found = spark.sparkContext.parallelize(range(tasks), tasks).mapPartitions(look)
        return sorted(set(found.collect()))
    except Exception:  # noqa: BLE001 - what failed first is told all the same
        return []
