"""kafka-python's codec is imported by need, and nobody who wants its clients notices."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest


def _printed(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize("run", ["unclean_recovery", "aftercare"])
def test_a_command_imports_no_message_of_kafka_python(run: str) -> None:
    code = f"import kafka_unclean_recovery.cli.commands.{run}, sys; print(*sys.modules)"
    modules = _printed(code).split()
    assert not [name for name in modules if name.startswith("kafka.")]


def test_a_client_that_is_asked_for_is_there() -> None:
    code = (
        "import kafka_unclean_recovery.cluster, sys, kafka, kafka.protocol.metadata\n"
        "print('kafka.admin' in sys.modules)\n"
        "from kafka import KafkaConsumer\n"
        "print(KafkaConsumer.__module__, kafka.KafkaAdminClient.__name__, type(kafka).__name__)\n"
        "print(kafka.__version__)"
    )
    assert _printed(code).splitlines() == [
        "False",
        "kafka.consumer.group KafkaAdminClient module",
        version("kafka-python"),
    ]


def test_a_package_that_is_imported_already_stays_as_it_is() -> None:
    code = "import kafka; before = kafka; import kafka_unclean_recovery.cluster; import kafka"
    code += "; print(kafka is before, hasattr(kafka, 'nothing'))"
    assert _printed(code) == "True False"


def test_what_the_package_lacks_is_an_attribute_error() -> None:
    code = "import kafka_unclean_recovery.cluster, kafka\n"
    code += "try: kafka.nothing\nexcept AttributeError as error: print(error)"
    assert _printed(code) == "module 'kafka' has no attribute 'nothing'"
