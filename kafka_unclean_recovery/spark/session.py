"""A Spark session is local, a master's, the one of spark-submit, or one over Spark Connect."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyspark
from pyspark.sql import SparkSession

from kafka_unclean_recovery.errors import InputError
from kafka_unclean_recovery.spark.failures import sentence, whole
from kafka_unclean_recovery.spark.preflight import (
    CONNECT,
    check_java,
    check_reachable,
    check_release,
    check_yarn,
    without_token,
)
from kafka_unclean_recovery.spark.shipping import is_connect, ship

_APP = "kafka-unclean-recovery"
# spark-submit sets this variable. Without --master, spark-submit or spark-defaults.conf then
# decides.
_BY_SPARK_SUBMIT = "PYSPARK_GATEWAY_PORT"
PUSHDOWN = "spark.sql.python.filterPushdown.enabled"
_AT_START = {
    "spark.ui.showConsoleProgress": "false",
}
LOGGING = Path(__file__).with_name("log4j2.properties").as_uri()
# Python does nearly all of the work: the JVM's second compiler took 2 s of the 13 for a plan of 400
# partitions, and for 100,000 it brought nothing. A JVM of somebody else is left as it is.
_OF_OUR_JVM = {
    "spark.driver.extraJavaOptions": (
        f"-XX:TieredStopAtLevel=1 -Dlog4j2.configurationFile={LOGGING}"
    ),
    # Workers speak over Unix sockets, without the waits of small TCP packets. In the directory of a
    # container of YARN the path of a socket would be longer than the system allows.
    "spark.python.unix.domain.socket.enabled": "true",
}
_DEFAULTS = {
    # With this setting, filters of the data source reach its reader.
    PUSHDOWN: "true",
}


class NoSession(InputError):
    """Spark gave no session; the message is what it said, on one line. whole: all that it said."""

    def __init__(self, sentence: str, whole: str) -> None:
        super().__init__(sentence)
        self.whole = whole


@contextmanager
def session(master: str | None, conf: Mapping[str, str]) -> Iterator[SparkSession]:
    """Yield a session. master: as spark-submit has it, or sc://HOST:PORT; None is spark-submit's
    own, else local[*].

    The session is stopped at the end unless it was there before. Raises InputError when none can be
    had, and NoSession where Spark says why.
    """
    check_release("PySpark", pyspark.__version__)
    before = _is_there()
    if not before:
        _check(master)
    _choose_python(master, conf)
    try:
        spark = _builder(master, conf).getOrCreate()
    except Exception as error:  # noqa: BLE001 - whatever the JVM throws
        said = sentence(str(error), lambda _: ()) or type(error).__name__
        raise NoSession(f"no Spark session{_where(master)}: {said}", whole(error)) from None
    try:
        check_release("the Spark of this session", spark.version)
        if is_elsewhere(spark):
            ship(spark)
        yield spark
    finally:
        if not before:
            # The JVM may have gone, and then there is nothing to stop.
            with suppress(Exception):
                spark.stop()


def _is_there() -> bool:
    """Return whether a session, or the context of one, is there already in whichever thread it
    began: the active session is that of one thread only."""
    if SparkSession.getActiveSession() is not None:
        return True
    # A module is loaded by who began a session of its kind; either module may not be installed.
    connect = sys.modules.get("pyspark.sql.connect.session")
    if connect is not None and connect.SparkSession._get_default_session() is not None:
        return True
    classic = sys.modules.get("pyspark.core.context")
    return classic is not None and classic.SparkContext._active_spark_context is not None


def _check(master: str | None) -> None:
    """Check that a session can begin. Raises InputError."""
    if master is not None:
        check_reachable(master, os.environ)
        check_yarn(master, os.environ)
    if not (master or "").startswith(CONNECT) and _BY_SPARK_SUBMIT not in os.environ:
        check_java(os.environ)


def give_up() -> None:
    """Give up a session that begins elsewhere in this process, which is to end: the client of Spark
    Connect asks its server for something as it exits, and a server that does not answer would hold
    it for minutes."""
    from pyspark.sql.connect.client.core import SparkConnectClient

    def nothing(_: Any) -> None: ...

    client: Any = SparkConnectClient
    client._cleanup_ml_cache = nothing


def _builder(master: str | None, conf: Mapping[str, str]) -> SparkSession.Builder:
    builder = SparkSession.builder.appName(_APP)
    if master is not None and master.startswith(CONNECT):
        return _configured(builder.remote(master), {**_DEFAULTS, **conf})
    if master is not None:
        builder = builder.master(master)
    elif _BY_SPARK_SUBMIT not in os.environ:
        builder = builder.master("local[*]")
    own = {} if _BY_SPARK_SUBMIT in os.environ else _of_our_jvm(master)
    return _configured(builder, {**_AT_START, **own, **_DEFAULTS, **conf})


def _of_our_jvm(master: str | None) -> Mapping[str, str]:
    """Return settings for a JVM that begins here. That of a cluster may need the Java options of
    spark-defaults.conf, which are left as they are."""
    return _OF_OUR_JVM if _is_local(master) else {"spark.log.level": "ERROR"}


def _configured(builder: SparkSession.Builder, conf: Mapping[str, str]) -> SparkSession.Builder:
    for key, value in conf.items():
        builder = builder.config(key, value)
    return builder


def _choose_python(master: str | None, conf: Mapping[str, str]) -> None:
    """Choose the Python of workers. Spark reads the setting in spark-submit only, and without one
    it takes the first python3 on the PATH, which here need not be the Python of this command."""
    given = conf.get("spark.pyspark.python")
    if given is not None:
        os.environ["PYSPARK_PYTHON"] = given
    elif _is_local(master) and _BY_SPARK_SUBMIT not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)


def is_elsewhere(spark: SparkSession) -> bool:
    """Return whether executors may lack this package: on other machines, or another Python."""
    if is_connect(spark) or not _is_local(spark.conf.get("spark.master", None)):
        return True
    return not _is_ours(shutil.which(spark.sparkContext.pythonExec))


def _is_ours(python: str | None) -> bool:
    """Return whether this is our own Python. In two virtual environments, python may be a link to
    the same file, so the directories must be the same too."""
    if python is None:
        return False
    theirs, ours = Path(python).absolute(), Path(sys.executable).absolute()
    return theirs.parent == ours.parent and theirs.resolve() == ours.resolve()


def _is_local(master: str | None) -> bool:
    return master is None or master == "local" or master.startswith("local[")


def _where(master: str | None) -> str:
    return "" if master is None else f" of --master {without_token(master)}"
