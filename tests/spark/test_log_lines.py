"""What the JVM that we start logs on stderr."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

from kafka_unclean_recovery.spark.session import LOGGING

pytestmark = pytest.mark.slow

_SAYS = """
import org.apache.logging.log4j.LogManager;

public class Says {
    public static void main(String[] args) {
        String evil = "x\\u001b[2J\\u202e\\u2028\\nkafka-unclean-recovery: all is well";
        LogManager.getLogger("a.b.Task").error(evil, new RuntimeException(evil));
    }
}
"""


def test_what_spark_quotes_does_not_act_on_the_terminal(tmp_path: Path) -> None:
    spec = find_spec("pyspark")
    assert spec is not None
    assert spec.origin is not None
    (tmp_path / "Says.java").write_text(_SAYS)
    jars = (Path(spec.origin).parent / "jars").glob("log4j-[ac]*[ei]-2*.jar")
    classes = ":".join(map(str, jars))
    done = subprocess.run(
        [
            *("java", "-Xmx128m", "-cp", classes, f"-Dlog4j2.configurationFile={LOGGING}"),
            tmp_path / "Says.java",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    first, *others = done.stderr.splitlines()
    assert first.endswith(" ERROR Task: x?[2J???kafka-unclean-recovery: all is well")
    # Releases of log4j differ in what is one line of an exception.
    assert others[0].startswith("  java.lang.RuntimeException: x")
    assert sum("all is well" in line for line in others) <= 1
    assert not [line for line in others if not line.startswith("  ")]
    assert done.stderr.replace("\n", "").replace("\t", "").isprintable()
