"""What is told of a Spark job that failed. The texts are of Spark 4.1, shortened."""

from __future__ import annotations

import os
import sys

import pytest
from pyspark.sql import SparkSession

from kafka_unclean_recovery.spark.failures import pythons_without, sentence

LOST = (
    "Job aborted due to stage failure: Task 1 in stage 0.0 failed 4 times, most recent failure:"
    " Lost task 1.3 in stage 0.0 (TID 7) ({} executor {}): "
)
RAISED = (
    "org.apache.spark.api.python.PythonException: Traceback (most recent call last):\n"
    '  File "worker.py", line 1920, in read_udfs\n    import {}\n{}\n SQLSTATE: 38000\n'
    "\tat org.apache.spark.rdd.RDD.iterator(RDD.scala:338)\n"
)
NO_PYARROW = RAISED.format("pyarrow as pa", "ModuleNotFoundError: No module named 'pyarrow'")
FULL = RAISED.format("it", "OSError: [Errno 28] No space left on device: '/shared/scan/x'")
AWAY = 'java.io.IOException: Cannot run program "/nope/python3": error=2, No such file or directory'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            LOST.format("worker-7.example", "2") + NO_PYARROW,
            "/bin/python3 of a, /bin/python3 of b has no pyarrow, and executors need pyspark,"
            " pyarrow and pandas: install them there, or name a Python that has them (--conf"
            " spark.pyspark.python=PATH)",
            id="no pyarrow",
        ),
        pytest.param(
            LOST.format("worker-7.example", "2") + AWAY,
            "there is no /nope/python3 on worker-7.example: name a Python that all executors have"
            " (--conf spark.pyspark.python=PATH)",
            id="no such Python",
        ),
        pytest.param(
            LOST.format("worker-7.example", "2") + FULL,
            "on worker-7.example: OSError: [Errno 28] No space left on device: '/shared/scan/x'",
            id="full",
        ),
        pytest.param(
            LOST.format("127.0.0.1", "driver") + FULL,
            "OSError: [Errno 28] No space left on device: '/shared/scan/x'",
            id="full, in a local session",
        ),
        pytest.param(
            LOST.format("worker-7.example", "2") + "java.lang.OutOfMemoryError: Java heap space",
            "the JVM of an executor on worker-7.example has too little memory: give it more"
            " (--conf spark.executor.memory=4g)",
            id="an executor without memory",
        ),
        pytest.param(
            "An error occurred while calling o1186.getResult",
            "the JVM of the driver has too little memory, or has ended: give it more"
            " (--conf spark.driver.memory=4g)",
            id="a driver without memory",
        ),
        pytest.param(
            "An error occurred while calling o605.getResult.\n: org.apache.spark.SparkException:"
            " Exception thrown in awaitResult: \n\tat a.b\nCaused by: org.apache.spark."
            "SparkException: Job aborted: TaskResultLost (result lost from block manager)\n\tat c",
            "org.apache.spark.SparkException: Job aborted: TaskResultLost (result lost from block"
            " manager)",
            id="a cause that a JVM tells",
        ),
        pytest.param(
            "An error occurred while calling None.org.apache.spark.api.java.JavaSparkContext.\n:"
            " java.lang.IllegalArgumentException: System memory 1000 must be more\n\tat a.b",
            "java.lang.IllegalArgumentException: System memory 1000 must be more",
            id="an error that a JVM tells",
        ),
        pytest.param("\n no traceback\nat all", "no traceback", id="no task's"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_a_failure_is_one_sentence_with_host_and_way_out(text: str, expected: str) -> None:
    assert sentence(text, lambda _: ("/bin/python3 of a", "/bin/python3 of b")) == expected


def test_pythons_that_lack_a_module_are_named_with_their_host(spark: SparkSession) -> None:
    (found,) = pythons_without(spark, "no_such_module", 2)
    assert found == f"{sys.executable} of {os.uname().nodename}"
    assert pythons_without(spark, "pyarrow", 2) == []
